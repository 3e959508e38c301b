/** Issues credentials for S3: AssumeRole of STS with an inline session policy. Ends them by a policy of the role. */

import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { AddressRules } from '../../catalog/address.ts'
import type { CredentialAccess, CredentialIssuer, CredentialRequest } from '../issuer.ts'
import type { VendSettings } from '../settings.ts'
import { callQueryApi, elementOf, QueryRefusal } from './query-api.ts'
import { denialPolicy, sessionPolicy } from './session-policy.ts'

/** Codes that say that the policy is too large once STS has packed it, which only STS knows. */
const tooLarge: ReadonlySet<string> = new Set(['PackedPolicyTooLarge', 'PackedPolicyTooLargeException'])

/** An issuer with the settings of one catalog credential. */
export function awsIssuer(
  settings: VendSettings,
  { addressRules: rules, clock }: { readonly addressRules: AddressRules; readonly clock: Clock },
): CredentialIssuer {
  const { keys, region } = settings
  const call = async (
    service: 'sts' | 'iam',
    endpoint: URL,
    signedRegion: string,
    form: Readonly<Record<string, string>>,
  ) =>
    await callQueryApi({
      ...{ endpoint, service, keys, form, rules },
      region: signedRegion,
      nowMs: clock.now(),
    })
  const roleOf = (access: CredentialAccess) =>
    access === 'write' ? settings.writerRoleArn : settings.roleArn
  return {
    issuedFor: roleOf,
    async issue(request) {
      const { access, sessionName, lifetimeSeconds } = request
      const roleArn = roleOf(access)
      const { deletes, kmsKeyArn, externalId } = settings
      const narrowed = sessionPolicy(request, { partition: partitionOf(roleArn), deletes, kmsKeyArn })
      if ('refusal' in narrowed) return narrowed
      let reply: string
      try {
        reply = await call('sts', settings.stsEndpoint, region, {
          Action: 'AssumeRole',
          Version: '2011-06-15',
          RoleArn: roleArn,
          RoleSessionName: sessionName,
          DurationSeconds: String(lifetimeSeconds),
          Policy: narrowed.policy,
          ...(externalId !== undefined && { ExternalId: externalId }),
        })
      } catch (thrown) {
        if (!(thrown instanceof QueryRefusal)) throw thrown
        if (tooLarge.has(thrown.code))
          return { refusal: 'would need a policy that STS finds too large: the table has too many folders' }
        throw refused('assume the role for storage credentials', thrown)
      }
      return issuedOf(reply, roleArn, request, clock)
    },
    async deny(issuedFor, name, sessionNames) {
      const roleName = issuedFor.slice(issuedFor.lastIndexOf('/') + 1)
      try {
        await call('iam', settings.iamEndpoint, iamRegion(issuedFor), {
          Action: 'PutRolePolicy',
          Version: '2010-05-08',
          RoleName: roleName,
          PolicyName: name,
          PolicyDocument: denialPolicy(sessionNames),
        })
      } catch (thrown) {
        throw thrown instanceof QueryRefusal ? refused('put the denial on the role', thrown) : thrown
      }
    },
  }
}

/** The reply as a credential, whose parts become settings of clients. */
function issuedOf(reply: string, roleArn: string, { lifetimeSeconds }: CredentialRequest, clock: Clock) {
  const keyId = elementOf(reply, 'AccessKeyId')
  const secret = elementOf(reply, 'SecretAccessKey')
  const token = elementOf(reply, 'SessionToken')
  const expiresAtMs = Date.parse(elementOf(reply, 'Expiration') ?? '')
  if (keyId === undefined || secret === undefined || token === undefined)
    throw new Fault(
      'upstream_failed',
      'The service that issues storage credentials sent an unreadable reply.',
    )
  // Where it does not say when they end, they end when it was asked to end them.
  const endsAtMs = Number.isNaN(expiresAtMs) ? clock.now() + lifetimeSeconds * 1000 : expiresAtMs
  return {
    keyId,
    issuedFor: roleArn,
    expiresAtMs: endsAtMs,
    config: {
      's3.access-key-id': keyId,
      's3.secret-access-key': secret,
      's3.session-token': token,
      's3.session-token-expires-at-ms': String(endsAtMs),
    },
  }
}

function refused(what: string, refusal: QueryRefusal): Fault {
  return new Fault('upstream_failed', `The service could not ${what}: AWS ${refusal.message}.`, {
    cause: refusal,
  })
}

const partitionOf = (roleArn: string) => roleArn.split(':', 2)[1] ?? 'aws'

/** IAM is one service in each partition, signed for one region. */
function iamRegion(roleArn: string): string {
  const partition = partitionOf(roleArn)
  if (partition === 'aws-cn') return 'cn-north-1'
  return partition === 'aws-us-gov' ? 'us-gov-west-1' : 'us-east-1'
}
