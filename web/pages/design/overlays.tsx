import Copy from "lucide-react/icons/copy";
import Ellipsis from "lucide-react/icons/ellipsis";
import Pencil from "lucide-react/icons/pencil";
import Trash2 from "lucide-react/icons/trash-2";
import { useState } from "react";
import { Button, IconButton } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { MultiCombobox } from "../../ui/combobox.tsx";
import { ConfirmDialog, Dialog } from "../../ui/dialog.tsx";
import { Drawer } from "../../ui/drawer.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { Menu, MenuCheckItem, MenuGroup, MenuItem, MenuRadio, MenuSeparator } from "../../ui/menu.tsx";
import { Popover, PopoverClose } from "../../ui/popover.tsx";
import { useToast } from "../../ui/toast.tsx";
import { Tooltip } from "../../ui/tooltip.tsx";
import { Exhibit, Line } from "./exhibit.tsx";

type Open = "none" | "dialog" | "confirm" | "drawer";
type Order = "clicks" | "created";

export function Overlays() {
  const toast = useToast();
  const [open, setOpen] = useState<Open>("none");
  const [tags, setTags] = useState<readonly string[]>(["campaign"]);
  const close = () => setOpen("none");
  return (
    <Exhibit title="What floats">
      <Line>
        <Menus />
        <Popover label="Note" trigger={<Button>Popover</Button>}>
          <div className="grid gap-3">
            <Field label="Note">
              <Input defaultValue="Newsletter sent" />
            </Field>
            <PopoverClose render={<Button variant="primary">Apply</Button>} />
          </div>
        </Popover>
        <Tooltip text="16 November 2026, 14:02:11">
          <button type="button" className="rounded-1 text-text-2">
            3 min ago
          </button>
        </Tooltip>
        <Button onClick={() => setOpen("dialog")}>Dialog</Button>
        <Button onClick={() => setOpen("confirm")}>Confirm</Button>
        <Button onClick={() => setOpen("drawer")}>Drawer</Button>
        <Button onClick={() => toast({ message: "Copied al.example/winter" })}>Toast</Button>
        <Button
          onClick={() =>
            toast({
              message: "Deleted 2 links.",
              action: { label: "Undo", onAction: () => toast({ message: "Restored 2 links." }) },
            })
          }
        >
          Toast with Undo
        </Button>
        <Button onClick={() => toast({ message: "Could not save. The link was changed meanwhile.", tone: "bad" })}>
          Toast of an error
        </Button>
      </Line>
      <Dialog
        open={open === "dialog"}
        onClose={close}
        title="Raise the limit"
        description="The new limit applies at once."
        closeLabel="Close"
        footer={
          <>
            <Button onClick={close}>Cancel</Button>
            <Button variant="primary" onClick={close}>
              Save
            </Button>
          </>
        }
      >
        <Field label="Hits a month">
          <Input defaultValue="10,000" />
        </Field>
      </Dialog>
      <ConfirmDialog
        open={open === "confirm"}
        onClose={close}
        onConfirm={close}
        title="Delete this workspace?"
        description="All links stop working. This cannot be undone."
        confirmLabel="Delete workspace"
        cancelLabel="Cancel"
        closeLabel="Close"
        typeToConfirm={{ text: "alder", label: "Type alder to confirm", mismatch: "Type alder exactly." }}
      />
      <Drawer
        open={open === "drawer"}
        onClose={close}
        onSubmit={close}
        title="New link"
        closeLabel="Close"
        footer={
          <>
            <Checkbox label="Create another" className="mr-auto" />
            <Button onClick={close}>Cancel</Button>
            <Button type="submit" variant="primary" kbd="⌘↵">
              Create link
            </Button>
          </>
        }
      >
        <Field label="Destination">
          <Input type="url" defaultValue="https://shop.alder.example/collections/winter-2026" />
        </Field>
        <Field label="Tags of the link">
          <MultiCombobox
            values={tags}
            onValuesChange={setTags}
            options={["campaign", "email", "events"].map((tag) => ({ value: tag, label: tag }))}
            emptyText="No tag found."
            removeLabel={(tag) => `Remove ${tag}`}
          />
        </Field>
      </Drawer>
    </Exhibit>
  );
}

function Menus() {
  const [order, setOrder] = useState<Order>("clicks");
  const [hasTags, setTags] = useState(true);
  return (
    <Menu align="start" trigger={<IconButton icon={Ellipsis} label="Actions" variant="secondary" />}>
      <MenuItem icon={Copy} shortcut="C">
        Copy
      </MenuItem>
      <MenuItem icon={Pencil} shortcut="E">
        Edit
      </MenuItem>
      <MenuItem disabled>Move</MenuItem>
      <MenuSeparator />
      <MenuRadio
        label="Sort by"
        value={order}
        onValueChange={setOrder}
        options={[
          { value: "clicks", label: "Clicks" },
          { value: "created", label: "Created" },
        ]}
      />
      <MenuGroup label="Columns">
        <MenuCheckItem checked={hasTags} onCheckedChange={setTags}>
          Tags
        </MenuCheckItem>
      </MenuGroup>
      <MenuSeparator />
      <MenuItem icon={Trash2} shortcut="⌫" danger>
        Delete
      </MenuItem>
    </Menu>
  );
}
