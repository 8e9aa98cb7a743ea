import { fromIso } from "../../base/clock.ts";
import { parseId } from "../../base/ids.ts";
import { problemSchema, singleLine, soughtText, z } from "../../http/route.ts";
import type { Links } from "../links.ts";
import type { LinkQuery } from "../read/find.ts";
import { listedStates, type StateFacts } from "../read/listed-state.ts";
import { stateHelp } from "../schemas.ts";
import { replacedMost } from "./replace.ts";
import type { FieldChange, LinkStep } from "./step.ts";

/** Edits of many links as JSON, and how they become steps. */
export const stepsMost = 1_000;

const tag = singleLine(50);
const someTags = z.array(tag).min(1).max(20);
const moment = z.iso.datetime({ offset: true }).openapi({ format: "date-time" });

export const filterSchema = z
  .strictObject({
    tags: z.array(soughtText(50).min(1)).min(1).max(10),
    match: z.enum(["all", "any"]),
    status: z.enum(["active", "disabled"]),
    state: z.enum(listedStates).openapi({ description: stateHelp }),
    domain: z
      .union([z.string().max(300), z.array(z.string().max(300)).min(1).max(20)])
      .openapi({ description: "One of your domains, or several." }),
    file: z.string().max(100),
    createdAfter: moment,
    createdBefore: moment,
    expiresBefore: moment,
    password: z.boolean(),
    hasRules: z.boolean(),
    search: singleLine(100),
  })
  .partial()
  .openapi("LinkFilter", { description: "The filters of `GET /api/links`. Empty: all links." });

const id = z.string().max(100);

const undoStep = z
  .strictObject({
    id,
    undo: z.enum(["edit", "delete", "restore", "move"]),
    toVersion: z.int().min(1).optional(),
    version: z.int().min(1).optional(),
    domain: z.string().max(300).optional(),
  })
  .openapi("BulkUndoStep");

/** As many as a replacement changes. */
const undoSteps = z.array(undoStep).min(1).max(replacedMost);

export const bulkEditSchema = z
  .strictObject({
    ids: z.array(id).min(1).max(stepsMost).optional().openapi({ description: "Up to 1,000 links." }),
    filter: filterSchema.optional().openapi({
      description:
        "Instead of `ids`: all links of this filter, 1,000 per request. Repeat it with `cursor` for the rest.",
    }),
    cursor: z
      .string()
      .max(1_000)
      .optional()
      .openapi({ description: "With `filter`: the `nextCursor` of the response." }),
    action: z.enum(["edit", "delete", "restore", "move"]).optional().openapi({
      description:
        "`delete` moves links to the trash, and `restore`, which takes `ids` only, takes them back. `move` gives them the same code on another of your domains; the old addresses answer 404.",
    }),
    addTags: someTags.optional(),
    removeTags: someTags.optional(),
    status: z.enum(["active", "disabled"]).optional(),
    expiresAt: moment.nullable().optional().openapi({ description: "Null: never." }),
    undo: undoSteps.optional().openapi({
      description: "Instead of everything else: the `undo` of an earlier response.",
    }),
    domain: z.string().max(300).nullable().optional().openapi({
      description: "With `move`: one of your verified domains. Null: the server's domain.",
    }),
  })
  .superRefine((value, { addIssue }) => {
    const refuse = (field: string, code: string, message: string) =>
      addIssue({ code: "custom", path: [field], message, params: { code } });
    const { action, ids, filter, cursor, undo, ...others } = value;
    if (undo !== undefined) {
      for (const [field, given] of Object.entries({ action, ids, filter, cursor, ...others })) {
        if (given !== undefined) refuse(field, "contradiction", "Not together with undo.");
      }
      return;
    }
    if (action === undefined) return refuse("action", "required", "Required.");
    const edits = editFields.filter((field) => value[field] !== undefined);
    if ((ids === undefined) === (filter === undefined)) refuse("ids", "contradiction", "Give either ids or filter.");
    if (action === "restore" && filter !== undefined) refuse("filter", "contradiction", "Restore links by their ids.");
    if (cursor !== undefined && filter === undefined) refuse("cursor", "contradiction", "Only together with filter.");
    if (action === "edit" && edits.length === 0) {
      refuse("action", "required", "Give at least one of addTags, removeTags, status and expiresAt.");
    }
    for (const field of action === "edit" ? [] : edits) refuse(field, "contradiction", "Only with the action edit.");
    if (action === "move" && value.domain === undefined) refuse("domain", "required", "Required.");
    if (action !== "move" && value.domain !== undefined)
      refuse("domain", "contradiction", "Only with the action move.");
    const both = value.addTags?.find((one) => value.removeTags?.includes(one));
    if (both !== undefined) refuse("removeTags", "contradiction", `"${both}" is also in addTags.`);
  })
  .openapi("BulkEdit", { example: { ids: ["lnk_01k9a0b1c2d3e4f5g6h7j8k9m0"], action: "edit", addTags: ["spring"] } });

const editFields = ["addTags", "removeTags", "status", "expiresAt"] as const;

export type BulkEditBody = z.infer<typeof bulkEditSchema>;

export const bulkEditedSchema = z
  .object({
    changed: z.int(),
    unchanged: z.int().openapi({ description: "Links that already were as requested." }),
    failed: z.int(),
    results: z.array(
      z.object({
        id: z.string(),
        state: z.enum(["changed", "unchanged", "failed"]),
        version: z.int().optional(),
        problem: problemSchema.optional(),
      }),
    ),
    undo: z.array(undoStep).openapi({
      description: "Send it to the same route as `undo` to take everything back that this request changed.",
    }),
    nextCursor: z
      .string()
      .nullable()
      .openapi({ description: "With `filter`: send it as `cursor` for the next links." }),
  })
  .openapi("BulkEdited");

type Filter = z.infer<typeof filterSchema>;

/** `facts`: what a state depends on. */
export function toQuery(filter: Filter, domainOf: Links["domainOf"], facts: StateFacts): Omit<LinkQuery, "limit"> {
  const { domain, file, state, createdAfter, createdBefore, expiresBefore, ...rest } = filter;
  const time = (text: string | undefined) => (text === undefined ? undefined : fromIso(text));
  return {
    ...rest,
    ...{ sort: "createdAt", order: "desc" },
    domains: domain === undefined ? undefined : [domain].flat().map(domainOf),
    state: state && { ...facts, is: state },
    // An ID of nothing leads to no link.
    file: file === undefined ? undefined : (parseId("file", file) ?? parseId("file", `fil_${"0".repeat(26)}`)),
    ...{ createdAfter: time(createdAfter), createdBefore: time(createdBefore), expiresBefore: time(expiresBefore) },
  };
}

/** The change of every link, without the link. */
export function toChange({ addTags, removeTags, status, expiresAt }: BulkEditBody): FieldChange {
  return {
    ...(addTags !== undefined && { addTags }),
    ...(removeTags !== undefined && { removeTags }),
    ...(status !== undefined && { status }),
    ...(expiresAt !== undefined && { expiresAt: expiresAt === null ? null : fromIso(expiresAt) }),
  };
}

type UndoStep = z.infer<typeof undoStep>;

/** `showDomain`: a domain as answers show it. */
export function showUndo(step: LinkStep, showDomain: (domain: string) => string): UndoStep {
  const { id } = step;
  switch (step.kind) {
    case "restore":
      return { id, undo: "delete" };
    case "delete":
      return { id, undo: "restore", ...(step.expected !== undefined && { version: step.expected }) };
    case "move":
      return {
        ...{ id, undo: "move", domain: showDomain(step.domain) },
        ...(step.expected !== undefined && { version: step.expected }),
      };
    case "undo":
      return {
        ...{ id, undo: "edit", toVersion: step.version },
        ...(step.expected !== undefined && { version: step.expected }),
      };
    case "edit":
      throw new Error("an edit is undone by its version");
  }
}

/** `undefined` if it lacks what its kind needs. */
export function readUndo(step: UndoStep, domainOf: (text: string) => string): LinkStep | undefined {
  const parsed = parseId("link", step.id);
  if (parsed === undefined) return undefined;
  const expected = step.version === undefined ? {} : { expected: step.version };
  switch (step.undo) {
    case "delete":
      return { kind: "restore", id: parsed };
    case "restore":
      return { kind: "delete", id: parsed, ...expected };
    case "move":
      return step.domain === undefined
        ? undefined
        : { kind: "move", id: parsed, domain: domainOf(step.domain), ...expected };
    case "edit":
      return step.toVersion === undefined
        ? undefined
        : { kind: "undo", id: parsed, version: step.toVersion, ...expected };
  }
}
