/**
 * Signs requests to an upstream by AWS Signature Version 4, as the Iceberg REST endpoints of Glue and S3 Tables demand.
 * It signs with the keys of the catalog credential alone.
 */

import { AwsV4Signer } from 'aws4fetch'

export interface SigningKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | undefined
  readonly region: string
  /** `glue`, `s3tables` or another name of a service. */
  readonly service: string
}

export interface SignableRequest {
  readonly method: string
  /** With the host that the request names, and its path as it is sent. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
}

/** The request's headers with its signature, its time and the session token. @param atMs milliseconds since 1970 */
export async function signRequest(
  { sessionToken, ...keys }: SigningKeys,
  { method, url, headers, body }: SignableRequest,
  atMs: number,
): Promise<Readonly<Record<string, string>>> {
  const signer = new AwsV4Signer({
    ...keys,
    ...(sessionToken !== undefined && { sessionToken }),
    method,
    url,
    headers: { ...headers },
    ...(body !== undefined && { body }),
    datetime: new Date(atMs).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  })
  const signed = await signer.sign()
  return Object.fromEntries(signed.headers)
}
