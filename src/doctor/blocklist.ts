import { readBlocklist } from "../abuse/blocklist.ts";
import { type Check, fail, ok, warn } from "./finding.ts";

const name = "blocklist";

export const checkBlocklist: Check = async ({ QL_BLOCKLIST: path }) => {
  if (path === undefined) return [];
  try {
    const { hosts, bad } = readBlocklist(path);
    const found = `${hosts.size} hosts in ${path}`;
    const [first] = bad;
    return first === undefined
      ? [ok(name, found)]
      : [
          warn(
            name,
            `${found}; ${bad.length} lines are not hosts, the first is line ${first.line}`,
            "Put one host on each line, such as example.com or *.example.com.",
          ),
        ];
  } catch (error) {
    return [fail(name, error, "Fix QL_BLOCKLIST, or allow the server's user to read the file.")];
  }
};
