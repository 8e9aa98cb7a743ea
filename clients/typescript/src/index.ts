export * from "./call.ts";
export * from "./events.ts";
export * from "./generated.ts";
