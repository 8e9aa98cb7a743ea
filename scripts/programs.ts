/** What is bundled. Threads are separate programs and must be named; `new Worker` finds them by these names. */
export const programs = ["./src/main.ts", "./src/server/background-thread.ts", "./src/server/clicks-thread.ts"];
