/** Which addresses a browser may be sent back to with a code. */

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]'])
/** Schemes that name no application on the person's machine. */
const refusedSchemes = new Set(
  ['javascript', 'data', 'file', 'blob', 'about', 'vbscript', 'ftp', 'ws', 'wss'].map((name) => `${name}:`),
)
const charsMax = 500

/** Whether a URL is on the machine itself. */
export function isLocal({ hostname }: URL): boolean {
  return loopbackHosts.has(hostname)
}

/** Whether a code may be sent to an address: https, http on loopback, or an application's own scheme. */
export function isRedirectUri(text: string): boolean {
  const url = text.length <= charsMax ? URL.parse(text) : null
  if (url === null || url.hash !== '' || url.username !== '' || url.password !== '') return false
  if (url.protocol === 'http:') return isLocal(url)
  return url.protocol === 'https:' ? url.hostname !== '' : !refusedSchemes.has(url.protocol)
}

/** Whether an address is one of these. On loopback the port is the application's to choose (RFC 8252, 7.3). */
export function isOneOf(redirectUris: readonly string[], given: string): boolean {
  if (!isRedirectUri(given)) return false
  return redirectUris.some((one) => one === given || withoutLocalPort(one) === withoutLocalPort(given))
}

function withoutLocalPort(text: string): string {
  const url = new URL(text)
  if (url.protocol === 'http:' && isLocal(url)) url.port = ''
  return url.href
}

/** A client of the setting `SVC_MCP_CLIENTS`: its id and one address, parted by a space. Undefined where malformed. */
export function parseClient(item: string): { readonly id: string; readonly redirectUri: string } | undefined {
  const [id = '', redirectUri = '', ...more] = item.split(' ').filter(Boolean)
  const fits = /^[A-Za-z0-9._~-]{1,100}$/.test(id) && isRedirectUri(redirectUri) && more.length === 0
  return fits ? { id, redirectUri } : undefined
}
