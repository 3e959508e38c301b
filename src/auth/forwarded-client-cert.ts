/**
 * Reads X-Forwarded-Client-Cert as Envoy writes it: elements split by commas, `key=value` pairs split by semicolons,
 * values optionally quoted. Only the last element is used, because the nearest terminator wrote it.
 */

/**
 * The client certificate's identity: its first URI SAN, else its first DNS SAN (docs/reference/identity.md 3.2).
 * @returns undefined where the header names neither or is malformed
 */
export function clientCertificateSubject(header: string): string | undefined {
  const elements = splitOutsideQuotes(header, ',')
  const last = elements?.at(-1)
  const pairs = last === undefined ? undefined : splitOutsideQuotes(last, ';')
  if (pairs === undefined) return undefined
  let uri: string | undefined
  let dns: string | undefined
  for (const pair of pairs) {
    const equals = pair.indexOf('=')
    if (equals < 0) return undefined
    const key = pair.slice(0, equals).trim().toLowerCase()
    const value = unquote(pair.slice(equals + 1).trim())
    if (value === undefined) return undefined
    if (key === 'uri') uri ??= value
    else if (key === 'dns') dns ??= value
  }
  return uri || dns || undefined
}

/** Parts between separators that stand outside double quotes; undefined where a quote never closes. */
function splitOutsideQuotes(text: string, separator: string): string[] | undefined {
  const parts: string[] = []
  let start = 0
  let quoted = false
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (character === '\\' && quoted) index++
    else if (character === '"') quoted = !quoted
    else if (character === separator && !quoted) {
      parts.push(text.slice(start, index))
      start = index + 1
    }
  }
  if (quoted) return undefined
  parts.push(text.slice(start))
  return parts
}

function unquote(value: string): string | undefined {
  if (!value.startsWith('"')) return value
  if (value.length < 2 || !value.endsWith('"')) return undefined
  return value.slice(1, -1).replace(/\\(.)/g, '$1')
}
