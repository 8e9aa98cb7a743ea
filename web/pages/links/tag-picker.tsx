import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { listQuery } from "../../api/queries.ts";
import { formatNumber } from "../../format.ts";
import { useSettled } from "../../forms.ts";
import { linksTexts as t } from "../../texts/links.ts";
import { MultiCombobox } from "../../ui/combobox.tsx";
import { useWorkspace } from "../../workspace.ts";

interface TagPickerProps {
  readonly values: readonly string[];
  readonly onValuesChange: (values: readonly string[]) => void;
  readonly canCreate?: boolean;
  /** The accessible name outside of a field. */
  readonly label?: string;
}

/** Tags of the workspace, found by their beginning. */
export function TagPicker({ values, onValuesChange, canCreate = false, label }: TagPickerProps) {
  const { slug } = useWorkspace();
  const [query, setQuery] = useState("");
  const prefix = useSettled(query.trim(), 150);
  const { data, isFetching } = useQuery({
    ...listQuery(slug, "GET /api/tags", { limit: 50, ...(prefix !== "" && { prefix }) }),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
  const options = (data?.items ?? []).map(({ tag, links }) => ({
    value: tag,
    label: tag,
    remark: formatNumber(links),
  }));
  return (
    <MultiCombobox
      values={values}
      onValuesChange={onValuesChange}
      options={options}
      onQueryChange={setQuery}
      loadingText={isFetching ? t.searching : undefined}
      emptyText={t.nothingFound}
      createText={canCreate ? t.createTag : undefined}
      placeholder={t.chooseTags}
      removeLabel={t.remove}
      label={label}
    />
  );
}
