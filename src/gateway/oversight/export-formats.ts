/** The formats in which decisions are exported. */

export const exportFormats = ['csv', 'jsonl'] as const
export type ExportFormat = (typeof exportFormats)[number]

export const exportMedia = {
  csv: 'text/csv; charset=utf-8; header=present',
  jsonl: 'application/x-ndjson',
} as const satisfies Record<ExportFormat, string>
