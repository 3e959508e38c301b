declare module 'pg-cursor' {
  import type { Submittable } from 'pg'
  export default class Cursor implements Submittable {
    constructor(text: string, values?: unknown[])
    read(rows: number): Promise<Record<string, unknown>[]>
    close(): Promise<void>
    submit(connection: unknown): void
  }
}
