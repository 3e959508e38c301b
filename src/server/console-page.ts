/** The frame of pages for a browser: plain HTML that runs no script, so that the strictest policy of contents holds. */

import type { Logger } from 'pino'
import { toFault } from '../base/fault.ts'
import { errorResponse } from '../http/fault-response.ts'

const policy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

/** A page. @param body HTML, with every text in it escaped */
export function consolePage(title: string, body: string): Response {
  const text = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${Bun.escapeHTML(title)}</title></head><body>
<h1>${Bun.escapeHTML(title)}</h1>
${body}
</body></html>
`
  return new Response(text, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    },
  })
}

/** Runs what answers a request for a page, and answers a Fault as everywhere. */
export function pageOrFault(log: Logger) {
  return async (work: () => Promise<Response> | Response): Promise<Response> => {
    try {
      return await work()
    } catch (thrown) {
      const fault = toFault(thrown)
      log.info({ kind: fault.kind, faultId: fault.id }, 'a page of the console refused')
      return errorResponse(fault)
    }
  }
}
