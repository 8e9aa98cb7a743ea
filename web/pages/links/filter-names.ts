import { linksTexts as t } from "../../texts/links.ts";
import type { FilterKind } from "./list-address.ts";

export const kindNames: Readonly<Record<FilterKind, string>> = {
  domain: t.domain,
  tag: t.tag,
  created: t.created,
  expires: t.expires,
  password: t.passwordIs,
  rules: t.rulesIs,
};
