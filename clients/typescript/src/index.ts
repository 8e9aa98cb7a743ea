export * from "./call.ts";
export * from "./generated.ts";
