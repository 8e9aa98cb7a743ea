import type { IsBot } from "../../redirect/bots.ts";
import { none } from "../click.ts";

/**
 * What kind of program sent a request; none for people. Whether it is a program is decided by `isBot` alone, because that
 * decides about the quota, too. The first kind with one of these words in the User-Agent wins.
 *
 * - preview: fetches a link that somebody posted, to show its title and picture. It says that the link was shared.
 * - ai: collects pages for a language model or for its search, or reads one on behalf of its user, also aloud.
 * - monitor: checks whether a page works.
 * - library: a program that somebody wrote, or a tool of the command line.
 * - crawler: search engines and everything else that calls itself a bot.
 */
export type BotKindOf = (userAgent: string) => string;

export const botKinds = ["preview", "ai", "monitor", "library", "crawler", "other"] as const;
type BotKind = (typeof botKinds)[number];

export const createBotKinds =
  (isBot: IsBot): BotKindOf =>
  (userAgent) =>
    isBot(userAgent) ? kindOf(userAgent.toLowerCase()) : none;

const kindOf = (userAgent: string): BotKind =>
  kinds.find(([, words]) => words.some((word) => userAgent.includes(word)))?.[0] ?? "other";

const kinds: readonly (readonly [BotKind, readonly string[]])[] = [
  [
    "preview",
    [
      ...["slackbot", "slack-imgproxy", "whatsapp", "twitterbot", "telegrambot", "facebookexternalhit", "facebot"],
      ...["facebookcatalog", "linkedinbot", "discordbot", "applebot-link", "imessage", "skypeuripreview", "msteams"],
      ...["microsoftpreview", "teams-link", "signal-desktop", "mastodon", "pleroma", "misskey", "akkoma", "lemmy"],
      ...["pinterestbot", "pinterest/0", "redditbot", "snapchat", "snap url preview", "viber", "kakaotalk-scrap"],
      ...["vkshare", "embedly", "iframely", "outbrain", "quora link preview", "zoombot", "google-pagerenderer"],
      ...["bitlybot", "bluesky cardyb", "cardyb", "tumblr", "flipboardproxy", "nuzzel", "notionembedder"],
      ...["synapse", "matrix", "mattermost", "rocket.chat", "xing-contenttabreceiver", "linespider", "line-poker"],
      ...["link preview", "linkpreview", "url preview", "urlpreview", "preview-bot", "opengraph", "unfurl"],
      ...["googlemessages"],
    ],
  ],
  [
    "ai",
    [
      ...["gptbot", "oai-searchbot", "chatgpt", "claudebot", "claude-", "anthropic", "perplexity", "google-extended"],
      ...["googleother", "google-cloudvertexbot", "gemini", "ccbot", "bytespider", "cohere", "meta-externalagent"],
      ...["meta-externalfetcher", "facebookbot", "amazonbot", "applebot-extended", "ai2bot", "diffbot", "mistral"],
      ...["duckassistbot", "youbot", "timpibot", "pangubot", "imagesiftbot", "omgili", "webzio-extended", "deepseek"],
      ...["kangaroo bot", "friendlycrawler", "icc-crawler", "img2dataset", "grok", "xai-", "meta-webindexer"],
      ...["google-notebooklm", "googleagent-mariner", "google-read-aloud", "google-speakr"],
    ],
  ],
  [
    "monitor",
    [
      ...["uptime", "pingdom", "statuscake", "site24x7", "newrelic", "datadog", "betterstack", "better stack"],
      ...["checkly", "nagios", "check_http", "zabbix", "icinga", "catchpoint", "gtmetrix", "lighthouse", "pagespeed"],
      ...["googlestackdrivermonitoring", "google-stackdriver", "amazon-route53-health", "elb-healthchecker"],
      ...["kube-probe", "googlehc", "freshping", "hetrixtools", "montastic", "monitor", "blackbox", "healthcheck"],
      ...["health-check", "w3c_validator", "w3c-checklink", "linkchecker", "updown.io", "ohdear", "oh dear"],
      ...["dotcom-", "sentry", "deadlinkchecker", "quicklink"],
    ],
  ],
  [
    "library",
    [
      ...["curl", "wget", "python", "aiohttp", "httpx", "go-http-client", "java/", "okhttp", "apache-httpclient"],
      ...["axios", "node-fetch", "undici", "got (", "got/", "superagent", "ruby", "faraday", "rest-client", "php"],
      ...["guzzle", "symfony", "perl", "libwww", "lwp", "rust", "reqwest", "hyper", "dart", "deno", "bun/", "node"],
      ...["postman", "insomnia", "httpie", "powershell", "winhttp", "dotnet", "restsharp", "cfnetwork", "urllib"],
      ...["scrapy", "colly", "phantomjs", "headless", "puppeteer", "playwright", "selenium", "electron", "jsdom"],
      ...["cypress", "wrk", "k6/", "apachebench", "vegeta", "hey/", "libcurl", "http_request", "aws-sdk", "jakarta"],
    ],
  ],
  [
    "crawler",
    [
      ...["bot", "crawl", "spider", "slurp", "search", "archive", "index", "scan", "fetch", "mediapartners"],
      ...["apis-google", "adsbot", "feed", "rss", "yandex", "baidu", "sogou", "ahrefs", "semrush", "censys"],
    ],
  ],
];
