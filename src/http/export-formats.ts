/** The formats of exports, the response that streams one a page at a time, and cells of CSV. It loads no page itself. */

export const exportFormats = ['csv', 'jsonl'] as const
export type ExportFormat = (typeof exportFormats)[number]

const exportMedia = {
  csv: 'text/csv; charset=utf-8; header=present',
  jsonl: 'application/x-ndjson',
} as const satisfies Record<ExportFormat, string>

/**
 * The response of an export: the next page is loaded once the client has taken the one before. A failure after the first
 * page breaks the transfer off, so that what is incomplete does not look complete.
 * @param name of the file, without the ending
 * @throws Fault of the first page
 */
export async function exportResponse(
  name: string,
  format: ExportFormat,
  texts: AsyncGenerator<string, void, undefined>,
): Promise<Response> {
  let next: Promise<IteratorResult<string>> | undefined = Promise.resolve(await texts.next())
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await (next ?? texts.next())
        next = undefined
        if (done) controller.close()
        else controller.enqueue(new TextEncoder().encode(value))
      },
      async cancel() {
        await texts.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: {
      'content-type': exportMedia[format],
      'content-disposition': `attachment; filename="${name}.${format}"`,
      'cache-control': 'no-store',
    },
  })
}

/** Signs that begin a formula in a spreadsheet, the full-width ones too, and white space that some leave out before them. */
const beginsFormula = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/

/** A cell of CSV (RFC 4180). One that a spreadsheet would read as a formula gets an apostrophe before it. */
export function csvCell(text: string): string {
  const safe = beginsFormula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
