/** The page on which a person lets a client act, or does not. It runs no script. */

import { cleanText } from '../../base/clean-text.ts'
import type { OAuthClient } from './clients.ts'
import type { AuthorizationRequest } from './tickets.ts'

/** What each scope lets a client do, in words. */
const meanings: Readonly<Record<string, string>> = {
  'mcp:read': 'find tables, read their contracts and lineage, list your access and your requests for it',
  'mcp:query': 'run queries as you, under your masks and filters',
  'mcp:propose': 'add drafts of contracts and ask for access to hidden data, in your name',
}

const nameCharsMax = 80

/**
 * The page.
 * @param person the subject that signed in
 * @param consent the sealed request
 */
export function consentPage(
  { id, name }: OAuthClient,
  { redirectUri, scopes }: AuthorizationRequest,
  person: string,
  consent: string,
): Response {
  const html = (text: string) => Bun.escapeHTML(cleanText(text, 500))
  const target = new URL(redirectUri)
  const place = target.host === '' ? target.protocol : target.host
  const shown = cleanText(name, nameCharsMax) || 'A client without a name'
  const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Allow access to Covenant</title></head><body>
<h1>Allow ${html(shown)}?</h1>
<p>It calls itself ${html(shown)}. Nobody has checked the name. It is known by <code>${html(id)}</code>, and you return to <code>${html(place)}</code>.</p>
<p>Signed in as ${html(person)}. It would be able to:</p>
<ul>${scopes.map((scope) => `<li>${html(meanings[scope] ?? scope)}</li>`).join('')}</ul>
<form method="post" action="/oauth/consent">
<input type="hidden" name="consent" value="${Bun.escapeHTML(consent)}">
<button name="answer" value="allow">Allow</button> <button name="answer" value="deny">Do not allow</button>
</form></body></html>`
  // Browsers apply form-action to the redirect that answers the form, too.
  const source = target.host === '' ? target.protocol : target.origin
  return new Response(page, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self' ${source}`,
    },
  })
}
