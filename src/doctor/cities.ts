import { openCityTable } from "../clicks/facts/places.ts";
import { type Check, fail, ok } from "./finding.ts";

const name = "city database";

export const checkCities: Check = async ({ QL_CITY_DATABASE: path }) => {
  if (path === undefined) return [];
  try {
    await openCityTable(path);
    return [ok(name, path)];
  } catch (error) {
    return [
      fail(name, error, "Download the file again, fix QL_CITY_DATABASE, or allow the server's user to read the file."),
    ];
  }
};
