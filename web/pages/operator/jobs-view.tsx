import { useQuery } from "@tanstack/react-query";
import { listQuery } from "../../api/queries.ts";
import { formatDateTime, formatNumber, formatRelative } from "../../format.ts";
import { operatorTexts as t } from "../../texts/operator.ts";
import { Status } from "../../ui/chip.tsx";
import { Cell, HeadCell, PhoneLine, Row, Table, TableBody, TableHead } from "../../ui/table.tsx";
import { Loaded } from "./loaded.tsx";

export function JobsView() {
  const jobs = useQuery(listQuery("", "GET /api/operator/jobs"));
  return (
    <Loaded query={jobs}>
      {({ items }) => (
        <Table label={t.sections.jobs} minWidthPx={520} columns={[undefined, { wide: undefined }, { wide: 140 }, 140]}>
          <TableHead>
            <HeadCell>{t.jobName}</HeadCell>
            <HeadCell wide>{t.state}</HeadCell>
            <HeadCell wide align="end">
              {t.failures}
            </HeadCell>
            <HeadCell align="end">{t.lastSuccess}</HeadCell>
          </TableHead>
          <TableBody>
            {items.map(({ name, succeededAt, failures, error }) => {
              const state = <Status tone={failures > 0 ? "bad" : "ok"}>{error ?? t.active}</Status>;
              return (
                <Row key={name}>
                  <Cell title={name}>
                    {name}
                    <PhoneLine>{state}</PhoneLine>
                  </Cell>
                  <Cell wide title={error ?? undefined}>
                    {state}
                  </Cell>
                  <Cell wide align="end">
                    {formatNumber(failures)}
                  </Cell>
                  <Cell align="end" muted title={succeededAt ? formatDateTime(succeededAt) : undefined}>
                    {succeededAt ? formatRelative(succeededAt) : t.never}
                  </Cell>
                </Row>
              );
            })}
          </TableBody>
        </Table>
      )}
    </Loaded>
  );
}
