/** The reports that are compared with the truth, the same ones at every step. */
import type { Server } from "../../test/ground/server.ts";
import { createDice } from "../limits/dice.ts";
import type { Groups } from "./groups.ts";
import { ask as askReport, balance, type Comparison, type Question } from "./reports.ts";
import { expect, type Filter, filterText, randomFilters, type Visit } from "./truth.ts";

export interface Questions {
  (): Question[];
  /** Of links with more clicks than are itemised: what is, what is not and what is not itemised is everything. */
  hot(server: Server, into: Comparison): Promise<void>;
}

/** `truth` may grow; the questions stay. */
export function createQuestions(
  groups: Groups,
  truth: readonly Visit[],
  filtersEach: number,
  short: boolean,
): Questions {
  const dice = createDice(Date.now());
  const someLinks = groups.cool.links.slice(0, short ? 3 : 5);
  const cool = truth.filter(({ link }) => link.tag === "cool");
  const list = (count: number) => Array.from({ length: count }, () => randomFilters(cool, dice.next));
  const filters = { tag: list(filtersEach), links: list(filtersEach), hot: list(short ? 3 : filtersEach) };

  function questions(): Question[] {
    const ofTag = (tag: string) => truth.filter(({ link }) => link.tag === tag);
    const ofLink = (id: string) => truth.filter(({ link }) => link.id === id);
    const tag = (name: string, filters: readonly Filter[], traffic: Question["traffic"]): Question => ({
      ...{ name: `tag ${name}`, path: "/api/stats", more: { tag: name }, visits: ofTag(name), filters, traffic },
    });
    const link = (id: string, filters: readonly Filter[], traffic: Question["traffic"]): Question => ({
      ...{ name: `link ${id}`, path: `/api/links/${id}/stats`, visits: ofLink(id), filters, traffic },
    });
    return [
      ...(["people", "all"] as const).flatMap((traffic) => [tag("cool", [], traffic), tag("hot", [], traffic)]),
      ...filters.tag.map((one, place) => tag("cool", one, place % 2 === 0 ? "people" : "all")),
      ...groups.hot.links.flatMap(({ id }) => [link(id, [], "people"), link(id, [], "all")]),
      ...someLinks.map(({ id }) => link(id, [], "all")),
      ...filters.links.map((one, place) => link(someLinks[place % someLinks.length]?.id ?? "", one, "all")),
    ];
  }

  async function hot(server: Server, into: Comparison): Promise<void> {
    for (const [place, { id }] of groups.hot.links.entries()) {
      const path = `/api/links/${id}/stats`;
      const all = expect(
        truth.filter(({ link }) => link.id === id),
        [],
        "all",
      ).clicks;
      for (const [number, [condition]] of filters.hot.entries()) {
        if (condition === undefined || number % groups.hot.links.length !== place) continue;
        const is: Filter = { ...condition, how: "is" };
        const [yes, no] = [
          await askReport(server, path, [is], "all"),
          await askReport(server, path, [{ ...is, how: "is not" }], "all"),
        ];
        const what = `link ${id} ${filterText(is)}`;
        balance(yes, what, into);
        balance(no, `${what}, not`, into);
        const { clicks = 0, of = 0 } = yes.itemised ?? {};
        into.figures += 2;
        if (of !== all) into.wrong.push(`${what}: ${of} clicks in all, not ${all}`);
        const sum = yes.totals.clicks + no.totals.clicks + of - clicks;
        if (sum !== all) into.wrong.push(`${what}: is + is not + not itemised is ${sum}, not ${all}`);
      }
    }
    await whole(server, into);
  }

  /** All links together, also those of servers that ended. */
  async function whole(server: Server, into: Comparison): Promise<void> {
    for (const traffic of ["people", "all"] as const) {
      balance(await askReport(server, "/api/stats", [], traffic), `tenant ${traffic}`, into);
    }
  }
  return Object.assign(questions, { hot });
}
