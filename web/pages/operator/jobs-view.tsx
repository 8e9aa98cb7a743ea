import { useQuery } from "@tanstack/react-query";
import { listQuery } from "../../api/queries.ts";
import { formatDateTime, formatNumber, formatRelative } from "../../format.ts";
import { operatorTexts as t } from "../../texts/operator.ts";
import { Status } from "../../ui/chip.tsx";
import { Cell, HeadCell, Row, Table, TableBody, TableHead } from "../../ui/table.tsx";
import { Loaded } from "./loaded.tsx";

export function JobsView() {
  const jobs = useQuery(listQuery("", "GET /api/operator/jobs"));
  return (
    <Loaded query={jobs}>
      {({ items }) => (
        <Table label={t.sections.jobs} minWidthPx={520} columns={[undefined, 160, 120, undefined]}>
          <TableHead>
            <HeadCell>{t.jobName}</HeadCell>
            <HeadCell align="end">{t.lastSuccess}</HeadCell>
            <HeadCell align="end">{t.failures}</HeadCell>
            <HeadCell>{t.state}</HeadCell>
          </TableHead>
          <TableBody>
            {items.map(({ name, succeededAt, failures, error }) => (
              <Row key={name}>
                <Cell>{name}</Cell>
                <Cell align="end" muted title={succeededAt ? formatDateTime(succeededAt) : undefined}>
                  {succeededAt ? formatRelative(succeededAt) : t.never}
                </Cell>
                <Cell align="end" className="num">
                  {formatNumber(failures)}
                </Cell>
                <Cell title={error ?? undefined}>
                  <Status tone={failures > 0 ? "bad" : "ok"}>{error ?? t.active}</Status>
                </Cell>
              </Row>
            ))}
          </TableBody>
        </Table>
      )}
    </Loaded>
  );
}
