declare module 'pg-cursor' {
  import type { Submittable } from 'pg'
  // biome-ignore lint/style/noDefaultExport: it is what the package exports
  export default class Cursor implements Submittable {
    constructor(text: string, values?: unknown[])
    read(rows: number): Promise<Record<string, unknown>[]>
    close(): Promise<void>
    submit(connection: unknown): void
  }
}
