import { countryName, languageName } from "../../../format.ts";
import { allCountries } from "./simulate.ts";

/** ISO 639-1 codes of the languages that browsers are used in. Others can be typed, and regions such as pt-BR. */
const codes =
  "af am ar as az be bg bn bs ca cs cy da de el en en-GB en-US es es-MX et eu fa fi fil fr fr-CA ga gl gu he hi hr hu hy id " +
  "ig is it ja jv ka kk km kn ko ku ky lb lo lt lv mg mi mk ml mn mr ms mt my nb ne nl nn or pa pl ps pt pt-BR pt-PT ro ru " +
  "sd si sk sl so sq sr sv sw ta te tg th ti tk tr tt uk ur uz vi xh yo zh zh-CN zh-HK zh-TW zu";

interface Option {
  readonly value: string;
  readonly label: string;
  readonly remark: string;
}

let languages: readonly Option[] | undefined;
let countries: readonly Option[] | undefined;

/** By name in the reader's language. */
export const languageOptions = (): readonly Option[] => {
  languages ??= named(codes.split(" "), languageName);
  return languages;
};

export const countryOptions = (): readonly Option[] => {
  countries ??= named(allCountries, countryName);
  return countries;
};

const named = (all: readonly string[], nameOf: (code: string) => string): Option[] =>
  all
    .map((code) => ({ value: code, label: nameOf(code), remark: code }))
    .toSorted((a, b) => a.label.localeCompare(b.label));

/** As the API takes it: two or three letters, and parts after hyphens. */
export const isLanguageCode = (text: string): boolean => /^[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}$/i.test(text.trim());
