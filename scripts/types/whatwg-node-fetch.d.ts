/**
 * Takes the place of the declarations of @whatwg-node/fetch for the compiler, by `paths` in tsconfig.json. Its own ones
 * load the types of a browser, which contradict those of Bun in the whole project. At run time the package is used.
 */

export const fetch: typeof globalThis.fetch
export const Request: typeof globalThis.Request
export const Response: typeof globalThis.Response
export const Headers: typeof globalThis.Headers
export const createFetch: (options?: object) => Record<string, unknown>
