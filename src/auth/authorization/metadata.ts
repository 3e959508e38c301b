/** The address of the protected resource, and where its metadata is. */

/** The resource that tokens are for (RFC 8707): the address of `/mcp`. */
export function resourceOf(publicUrl: URL): string {
  return `${publicUrl.origin}/mcp`
}

/** Where a client that was refused finds out how to get a token (RFC 9728). */
export function resourceMetadataUrl(publicUrl: URL): string {
  return `${publicUrl.origin}/.well-known/oauth-protected-resource/mcp`
}
