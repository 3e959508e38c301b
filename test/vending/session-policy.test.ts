/** What an inline session policy allows: the folders of one table, and nothing where it cannot be limited to them. */

import { describe, expect, test } from 'bun:test'
import {
  denialPolicy,
  type PolicyOptions,
  policyCharactersMax,
  sessionPolicy,
} from '../../src/vending/aws/session-policy.ts'
import type { CredentialScope } from '../../src/vending/issuer.ts'

const options = { partition: 'aws', deletes: false, kmsKeyArn: undefined }
const scope = (access: CredentialScope['access'], ...prefixes: readonly string[]) => ({ access, prefixes })

function policyOf(wanted: CredentialScope, more: Partial<PolicyOptions> = {}) {
  const narrowed = sessionPolicy(wanted, { ...options, ...more })
  if ('refusal' in narrowed) throw new Error(narrowed.refusal)
  return JSON.parse(narrowed.policy)
}

describe('a session policy', () => {
  test('lets a reader get files below the folder, and list it with its slash', () => {
    expect(policyOf(scope('read', 's3://lake/wh/orders/'))).toEqual({
      Version: '2012-10-17',
      Statement: [
        { Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::lake/wh/orders/*'] },
        {
          Effect: 'Allow',
          Action: 's3:ListBucket',
          Resource: 'arn:aws:s3:::lake',
          Condition: { StringLike: { 's3:prefix': ['wh/orders/*'] } },
        },
      ],
    })
  })

  test('lets a writer put files too, and delete them only where that is set', () => {
    const actions = (deletes: boolean) =>
      policyOf(scope('write', 's3://lake/wh/orders/'), { deletes }).Statement[0].Action
    const writes = ['s3:GetObject', 's3:PutObject', 's3:AbortMultipartUpload', 's3:ListMultipartUploadParts']
    expect(actions(false)).toEqual(writes)
    expect(actions(true)).toEqual([...writes, 's3:DeleteObject'])
    expect(policyOf(scope('read', 's3://lake/t/'), { deletes: true }).Statement[0].Action).toEqual([
      's3:GetObject',
    ])
  })

  test('names each bucket with the folders in it', () => {
    const { Statement } = policyOf(scope('read', 's3://a/x/', 's3://b/y/', 's3://a/z/'), {
      partition: 'aws-cn',
    })
    expect(Statement[0].Resource).toEqual([
      'arn:aws-cn:s3:::a/x/*',
      'arn:aws-cn:s3:::b/y/*',
      'arn:aws-cn:s3:::a/z/*',
    ])
    expect(Statement.slice(1).map((one: { Condition: unknown }) => one.Condition)).toEqual([
      { StringLike: { 's3:prefix': ['x/*', 'z/*'] } },
      { StringLike: { 's3:prefix': ['y/*'] } },
    ])
  })

  test('names the key of encrypted buckets', () => {
    const kmsKeyArn = 'arn:aws:kms:eu-central-1:123456789012:key/k'
    const last = (access: 'read' | 'write') =>
      policyOf(scope(access, 's3://a/x/'), { kmsKeyArn }).Statement.at(-1)
    expect(last('read')).toEqual({ Effect: 'Allow', Action: ['kms:Decrypt'], Resource: kmsKeyArn })
    expect(last('write').Action).toEqual(['kms:Decrypt', 'kms:GenerateDataKey'])
  })

  test.each([
    's3://lake/a*/',
    's3://lake/*/',
    's3://lake/a?/',
    's3://lake/\u0024{aws:username}/',
    's3://lake/a$b/',
    's3://lake/a"b/',
    "s3://lake/a'b/",
    's3://lake/a\\b/',
    's3://lake/a b/',
    's3://lake/ä/',
  ])('is refused for a location with a character of the policy language: %s', (prefix) => {
    expect(sessionPolicy(scope('read', 's3://lake/t/', prefix), options)).toEqual({
      refusal: 'cannot be limited to a location that holds a character of the policy language',
    })
  })

  test.each(['s3://lake/', 's3://lake', 's3://lake/t', 'gs://lake/t/', 'file:///lake/t/', ''])(
    'is refused for what is no folder in S3: %s',
    (prefix) => {
      expect(sessionPolicy(scope('read', prefix), options)).toHaveProperty('refusal')
    },
  )

  test('is refused without a folder: a policy that names none would be no narrowing', () => {
    expect(sessionPolicy(scope('read'), options)).toHaveProperty('refusal')
  })

  test('is refused, never widened, where it is longer than STS allows', () => {
    const folder = (count: number) =>
      Array.from({ length: count }, (_, index) => `s3://lake/warehouse/sales.db/orders-${index}/data/`)
    let fitting = 0
    for (let count = 1; count <= 40; count++) {
      const narrowed = sessionPolicy(scope('write', ...folder(count)), options)
      if ('refusal' in narrowed) expect(narrowed.refusal).toContain('too many folders')
      else {
        expect(narrowed.policy.length).toBeLessThanOrEqual(policyCharactersMax)
        expect(JSON.parse(narrowed.policy).Statement[0].Resource).toHaveLength(count)
        fitting = count
      }
    }
    expect(fitting).toBeGreaterThan(5)
    expect(fitting).toBeLessThan(40)
  })
})

test('a denial names sessions of the role and denies them everything', () => {
  expect(JSON.parse(denialPolicy(['covenant-a', 'covenant-b'])).Statement).toEqual([
    {
      Effect: 'Deny',
      Action: '*',
      Resource: '*',
      Condition: { StringLike: { 'aws:userid': ['*:covenant-a', '*:covenant-b'] } },
    },
  ])
})
