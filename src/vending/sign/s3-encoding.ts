/** Escapes paths and parameters as AWS Signature Version 4 does. */

/** A path whose slashes stay. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeComponent).join('/')
}

/** All but the unreserved characters of RFC 3986. */
export function encodeComponent(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
