/**
 * Names of browsers as reports show them. The parser takes many names from the User-Agent as it is spelled there, and some
 * by a pattern (`[tizenoka]{5} ?browser`). Strangers choose it: without a list, they could make up names without end, and
 * these are shared by all tenants.
 */
const names = [
  ...["Chrome", "Safari", "Firefox", "Edge", "Opera", "Samsung Internet", "IE", "Brave", "Vivaldi", "DuckDuckGo"],
  ...["Chrome WebView", "Chrome Headless", "Chromium", "Android Browser", "Opera Mini", "Opera Mobi", "Opera Tablet"],
  ...["Opera GX", "Opera Touch", "Opera Coast", "Firefox Focus", "Firefox Reality", "Klar", "GSA", "Silk", "Kindle"],
  ...["Facebook", "Instagram", "LinkedIn", "Twitter", "Snapchat", "TikTok", "WeChat", "Weibo", "Line", "KakaoTalk"],
  ...["KakaoStory", "Naver", "Daum", "Alipay", "Klarna", "QQ", "QQBrowser", "QQBrowserLite", "UCBrowser", "Baidu"],
  ...["Yandex", "Whale", "Quark", "360", "2345", "115", "LBBROWSER", "Sogou Explorer", "Sogou Mobile", "MIUI Browser"],
  ...["HeyTap", "Huawei Browser", "Vivo Browser", "Smart Lenovo Browser", "Oculus Browser", "Pico Browser", "Wolvic"],
  ...["Sailfish Browser", "Tizen Browser", "Nokia Browser", "Ovi", "OviBrowser", "Maemo Browser", "Tesla", "Electron"],
  ...["Avast Secure Browser", "AVG Secure Browser", "Coc Coc", "Puffin", "Maxthon", "Dolphin", "Sleipnir", "Iron"],
  ...["Iridium", "Dragon", "Helio", "Epiphany", "Falkon", "QupZilla", "Konqueror", "Rekonq", "Midori", "Lunascape"],
  ...["LibreWolf", "Waterfox", "PaleMoon", "Basilisk", "SeaMonkey", "IceCat", "Iceweasel", "IceDragon", "K-Meleon"],
  ...["Fennec", "Mozilla", "Netscape", "Camino", "Flow", "Ladybird", "NetSurf", "Dillo", "Lynx", "Links", "w3m"],
  ...["IEMobile", "Avant", "SlimBrowser", "SlimBoat", "Slimjet", "Flock", "RockMelt", "Bolt", "Skyfire", "NetFront"],
  ...["OmniWeb", "Arora", "iCab", "WebKit", "PhantomJS", "Cobalt"],
] as const;

const spellings: ReadonlyMap<string, string> = new Map(names.map((name) => [name.toLowerCase(), name]));

/** The browser with this name in any spelling; "other" if it is none of these. The same on a phone has no name of its own. */
export const browserName = (name: string): string =>
  spellings.get(name.toLowerCase().replace(/^mobile (?=\w)/, "")) ?? "other";
