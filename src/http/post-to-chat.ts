/** Posts a message to a chat webhook, as Slack and compatible receivers take it, and makes names safe in its markup. */

import type { Secret } from '../base/secret.ts'

const requestMs = 10_000

/** `retry`: a later attempt may succeed. */
type ChatOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'retry'; readonly status: number | undefined; readonly afterMs: number }

/** Posts a message. It never throws, because an error may quote the address, which is a secret. */
export async function postToChat(
  webhookUrl: Secret,
  payload: { readonly text: string },
  signal: AbortSignal,
): Promise<ChatOutcome> {
  try {
    const response = await fetch(webhookUrl.reveal(), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(payload),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestMs)]),
    })
    await response.body?.cancel()
    if (response.ok) return { kind: 'sent' }
    const { status } = response
    if (status !== 429 && status < 500) return { kind: 'refused', status }
    const after = Number(response.headers.get('retry-after'))
    return { kind: 'retry', status, afterMs: Number.isFinite(after) ? after * 1_000 : 0 }
  } catch {
    return { kind: 'retry', status: undefined, afterMs: 0 }
  }
}

/** Names come from tables, so no part of them may become a link, a mention or markup. */
export function escapeMrkdwn(text: string): string {
  return escapeEntities(text).replace(/[`*~|@]|:(?=\/\/)|www(?=\.)/gi, (mark) => `${mark}\u200b`)
}

/** The text without control characters and with the receiver's entities. */
function escapeEntities(text: string): string {
  return (
    text
      .slice(0, 200)
      // Control characters, line separators, and characters that change the direction of text.
      .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
  )
}
