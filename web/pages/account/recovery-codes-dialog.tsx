import { saveFile } from "../../save-file.ts";
import { accountTexts, twoFactorTexts as t } from "../../texts/account.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";

interface RecoveryCodesDialogProps {
  readonly codes: readonly string[];
  readonly email: string;
  readonly onClose: () => void;
}

/** Shown once: nothing on the server can show them again. */
export function RecoveryCodesDialog({ codes, email, onClose }: RecoveryCodesDialogProps) {
  const text = codes.join("\n");
  const download = () => {
    const lines = [t.fileHead(email, location.host), "", ...codes, ""];
    saveFile(t.fileName, new Blob([lines.join("\n")], { type: "text/plain" }));
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t.codesTitle}
      description={t.codesLead}
      closeLabel={accountTexts.close}
      footer={
        <>
          <CopyButton text={text} label={accountTexts.copy} copiedLabel={accountTexts.copied} size="md">
            {accountTexts.copy}
          </CopyButton>
          <Button onClick={download}>{t.download}</Button>
          <span className="flex-1" />
          <Button variant="primary" onClick={onClose}>
            {t.savedThem}
          </Button>
        </>
      }
    >
      <ul
        aria-label={t.codes}
        className="grid grid-cols-2 gap-x-6 gap-y-1.5 rounded-2 border border-line bg-sunken p-4 font-mono text-13 max-sm:grid-cols-1"
      >
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
    </Dialog>
  );
}
