/**
 * STS and IAM on a free port, as far as the service calls them: it checks each signature by the secret of the key that
 * signs, and keeps what was asked. What a session policy allows is enforced by moto in the suites of clients.
 */

import { signRequest } from '../../src/catalog/sign-request.ts'

export interface AskedRole {
  readonly roleArn: string
  readonly sessionName: string
  readonly seconds: number
  readonly policy: SessionPolicy
  readonly externalId: string | null
}

export interface SessionPolicy {
  readonly Version: string
  readonly Statement: readonly {
    readonly Effect: string
    readonly Action: string | readonly string[]
    readonly Resource: string | readonly string[]
    readonly Condition?: unknown
  }[]
}

export interface TestSts extends AsyncDisposable {
  readonly url: string
  readonly asked: AskedRole[]
  /** Role, name and document of each policy that was put. */
  readonly put: { readonly role: string; readonly name: string; readonly document: SessionPolicy }[]
  /** The code with which every call is refused; undefined: none. */
  refuses: string | undefined
  /** What happens before a role is assumed. */
  meanwhile: () => Promise<void>
}

const error = (code: string, status: number) =>
  new Response(
    `<ErrorResponse><Error><Code>${code}</Code><Message>no, said with the secret ${stsKeys.secretAccessKey}</Message></Error></ErrorResponse>`,
    { status },
  )

/** The keys that it knows. */
export const stsKeys = { accessKeyId: 'AKVENDING', secretAccessKey: 'vending-secret' }

/** @param now the time of its credentials, in milliseconds since the Unix epoch */
export function startSts(now: () => number = Date.now): TestSts {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = await request.bytes()
      if (!(await isSigned(request, body))) return error('SignatureDoesNotMatch', 403)
      const form = new URLSearchParams(new TextDecoder().decode(body))
      if (made.refuses !== undefined) return error(made.refuses, 400)
      if (form.get('Action') === 'PutRolePolicy') {
        made.put.push({
          role: form.get('RoleName') ?? '',
          name: form.get('PolicyName') ?? '',
          document: JSON.parse(form.get('PolicyDocument') ?? ''),
        })
        return new Response('<PutRolePolicyResponse/>')
      }
      if (form.get('Action') !== 'AssumeRole') return error('InvalidAction', 400)
      await made.meanwhile()
      const seconds = Number(form.get('DurationSeconds'))
      made.asked.push({
        roleArn: form.get('RoleArn') ?? '',
        sessionName: form.get('RoleSessionName') ?? '',
        seconds,
        policy: JSON.parse(form.get('Policy') ?? ''),
        externalId: form.get('ExternalId'),
      })
      const key = `ASIA${made.asked.length}`
      return new Response(
        `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
        <AccessKeyId>${key}</AccessKeyId><SecretAccessKey>issued-${key}</SecretAccessKey><SessionToken>token-${key}</SessionToken>
        <Expiration>${new Date(now() + seconds * 1000).toISOString()}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
      )
    },
  })
  const made: TestSts = {
    url: server.url.origin,
    asked: [],
    put: [],
    refuses: undefined,
    meanwhile: async () => {},
    async [Symbol.asyncDispose]() {
      await server.stop(true)
    },
  }
  return made
}

async function isSigned(request: Request, body: Uint8Array): Promise<boolean> {
  const given = request.headers.get('authorization') ?? ''
  const [, key, region, service] = /Credential=([^/]+)\/\d{8}\/([^/]+)\/([^/]+)\//.exec(given) ?? []
  const at = request.headers.get('x-amz-date') ?? ''
  if (key !== stsKeys.accessKeyId) return false
  const signed = await signRequest(
    { ...stsKeys, sessionToken: undefined, region: region ?? '', service: service ?? '' },
    {
      method: 'POST',
      url: request.url,
      headers: { 'content-type': request.headers.get('content-type') ?? '' },
      body,
    },
    Date.parse(at.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')),
  )
  return signed.authorization === given
}
