/**
 * Reads the headers that a catalog credential adds to every request (`header.NAME` in `config_json`). Their values may
 * be secrets, so no error quotes one.
 */

const prefix = 'header.'
const headersMax = 32
const valueLengthMax = 4_096

/** RFC 9110, 5.1. */
const tokenPattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/
const valuePattern = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/** Headers of the connection, of the message, of authorization, and those that the gateway sets itself. */
const reserved = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['host', 'content-length', 'content-type', 'content-encoding', 'date', 'expect', 'range'],
  ...['accept', 'accept-encoding', 'user-agent', 'if-match', 'if-none-match', 'idempotency-key'],
  ...[
    'authorization',
    'proxy-authorization',
    'proxy-authenticate',
    'www-authenticate',
    'cookie',
    'set-cookie',
  ],
  ...['forwarded', 'via', 'x-iceberg-access-delegation'],
])
const reservedBeginnings = ['x-amz-', 'x-svc-', 'x-forwarded-']

/**
 * The headers of a configuration, with names in lower case.
 * @param problems receives a sentence for each that cannot be sent; it names settings, never their values
 */
export function customHeaders(
  config: Readonly<Record<string, unknown>>,
  problems: string[],
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  const given = Object.entries(config).filter(([setting]) => setting.startsWith(prefix))
  if (given.length > headersMax) problems.push(`There may be at most ${headersMax} headers.`)
  for (const [setting, value] of given) {
    const name = setting.slice(prefix.length).toLowerCase()
    if (value === null || value === undefined) continue
    if (!tokenPattern.test(name)) problems.push('A setting that begins with header. does not name a header.')
    else if (reserved.has(name) || reservedBeginnings.some((one) => name.startsWith(one)))
      problems.push(`The ${setting} is a header that the service sets itself or never sends.`)
    else if (Object.hasOwn(headers, name)) problems.push(`The ${setting} is given twice.`)
    else if (typeof value !== 'string' || value.length > valueLengthMax || !valuePattern.test(value))
      problems.push(`The ${setting} must be a string of visible ASCII characters.`)
    else headers[name] = value
  }
  return headers
}
