import type { Link } from "../../api/generated.ts";
import { shortly } from "../edit/link-form.ts";
import type { NameOf } from "./bar-rows.ts";
import { valueName } from "./values.ts";

/** "Rule 1 → shop.example/de": with the destinations that the link has now. */
export function variantNames(link: Link): NameOf {
  return (value) => {
    const name = valueName("variant", value);
    const [kind, number] = value.split(" ");
    const place = Number(number) - 1;
    const url = value === "" ? link.url : kind === "rule" ? link.rules[place]?.url : link.split[place]?.url;
    return typeof url === "string" ? `${name} → ${shortly(url)}` : name;
  };
}
