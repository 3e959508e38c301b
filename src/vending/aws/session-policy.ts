/**
 * Writes the inline policy that limits an assumed role to a table's territory. A prefix with a character that means
 * something in a policy is refused, because stores differ in how such characters are escaped.
 */

import type { CannotNarrow, CredentialScope } from '../issuer.ts'

/** AWS counts the text of an inline session policy up to this. */
export const policyCharactersMax = 2048

/** Wildcards, variables, quotes, escapes, and what is not ASCII, because stores may compare it in another form. */
const unsafe = /[*?$"'`\\<>{}]|[^\x21-\x7e]/

export interface PolicyOptions {
  /** `aws`, `aws-cn`, …: as in the role's ARN. */
  readonly partition: string
  /** Whether `write` may delete files. */
  readonly deletes: boolean
  readonly kmsKeyArn: string | undefined
}

const reading = ['s3:GetObject']
const writing = ['s3:PutObject', 's3:AbortMultipartUpload', 's3:ListMultipartUploadParts']

/** The policy as text, or why there is none. */
export function sessionPolicy(
  { prefixes, access }: CredentialScope,
  { partition, deletes, kmsKeyArn }: PolicyOptions,
): { readonly policy: string } | CannotNarrow {
  if (prefixes.length === 0) return { refusal: 'would allow nothing: the table has no territory yet' }
  const folders: { readonly bucket: string; readonly key: string }[] = []
  for (const prefix of prefixes) {
    const [, bucket = '', key = ''] = /^s3:\/\/([^/]+)\/(.+\/)$/.exec(prefix) ?? []
    // A key that is empty would be the whole bucket.
    if (key === '') return { refusal: 'can be issued for folders in S3 only' }
    if (unsafe.test(prefix))
      return { refusal: 'cannot be limited to a location that holds a character of the policy language' }
    folders.push({ bucket, key })
  }
  const arn = (resource: string) => `arn:${partition}:s3:::${resource}`
  const isWriter = access === 'write'
  const buckets = [...new Set(folders.map(({ bucket }) => bucket))]
  const policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Action: [
          ...reading,
          ...(isWriter ? writing : []),
          ...(isWriter && deletes ? ['s3:DeleteObject'] : []),
        ],
        Resource: folders.map(({ bucket, key }) => arn(`${bucket}/${key}*`)),
      },
      ...buckets.map((bucket) => ({
        Effect: 'Allow',
        Action: 's3:ListBucket',
        Resource: arn(bucket),
        // With its slash, because a prefix without it lists siblings whose names begin alike.
        Condition: {
          StringLike: {
            's3:prefix': folders.filter((one) => one.bucket === bucket).map(({ key }) => `${key}*`),
          },
        },
      })),
      ...(kmsKeyArn === undefined
        ? []
        : [
            {
              Effect: 'Allow',
              Action: ['kms:Decrypt', ...(isWriter ? ['kms:GenerateDataKey'] : [])],
              Resource: kmsKeyArn,
            },
          ]),
    ],
  })
  if (policy.length > policyCharactersMax)
    return {
      refusal: `would need a policy of ${policy.length} characters, and ${policyCharactersMax} are allowed: the table has too many folders`,
    }
  return { policy }
}

/** Denies everything to sessions of a role, by their names. */
export function denialPolicy(sessionNames: readonly string[]): string {
  return JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Deny',
        Action: '*',
        Resource: '*',
        // The id of a role's session is that of the role, a colon and the session's name.
        Condition: { StringLike: { 'aws:userid': sessionNames.map((name) => `*:${name}`) } },
      },
    ],
  })
}
