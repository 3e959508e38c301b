/**
 * Starts versitygw, an S3 server with signatures of its own, over a folder. The machine's own Go builds it once into
 * .cache/clients, which takes a quarter of an hour. With roles it judges each key of a request by the policies of a role
 * and of its session. It begins sessions only for tokens of providers that it reaches elsewhere than on this machine, so
 * they are begun here: written where its IAM service keeps them.
 */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signRequest } from '../../src/catalog/sign-request.ts'
import { freePort } from '../support/free-port.ts'
import { goProgram } from './deploy-tool.ts'
import { startServer } from './processes.ts'

/** Also that of the image in compose.yaml. */
export const versitygwVersion = '1.8.0'

export interface StorageServer extends AsyncDisposable {
  readonly url: string
  /** Keys that may do everything. */
  readonly id: string
  readonly secret: string
}

/** One whose users may assume a role. */
export interface RoleStorage extends StorageServer {
  /** ARN. */
  readonly role: string
  readonly stsUrl: string
}

/** Starts it with one bucket. @throws Error with the end of the output where it cannot be built or does not start */
export async function startVersitygw(bucket: string): Promise<StorageServer & { readonly folder: string }> {
  const stack = new AsyncDisposableStack()
  try {
    return await serve(stack, bucket, await build(), [])
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

/** The same with an IAM service, and a role that may do everything in the bucket. @throws Error as above */
export async function startVersitygwWithRoles(
  bucket: string,
): Promise<RoleStorage & { readonly folder: string }> {
  const stack = new AsyncDisposableStack()
  try {
    const program = await build()
    const folder = await temporary(stack, 'covenant-versitygw-iam-')
    const socket = join(folder, 'iam.sock')
    const url = `http://127.0.0.1:${freePort()}`
    stack.use(
      await startServer(
        'versitygw-iam',
        [program, ...login, '--port', new URL(url).host, 'iam', '--dir', folder, '--private-ports', socket],
        `${url}/?Action=GetUser`,
      ),
    )
    const role = { RoleName: 'lake' }
    const trust = {
      Effect: 'Allow',
      Principal: { AWS: `arn:aws:iam::${account}:root` },
      Action: 'sts:AssumeRole',
    }
    const all = {
      Effect: 'Allow',
      Action: 's3:*',
      Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
    }
    await callIam(url, { Action: 'CreateRole', ...role, AssumeRolePolicyDocument: documentOf(trust) })
    await callIam(url, {
      Action: 'PutRolePolicy',
      ...role,
      PolicyName: 'all',
      PolicyDocument: documentOf(all),
    })
    const sts = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => beginSession(folder, new URLSearchParams(await request.text())),
    })
    stack.defer(() => sts.stop(true))
    const standalone = ['--iam-standalone-endpoint', socket, '--iam-cache-disable']
    return {
      ...(await serve(stack, bucket, program, standalone)),
      role: `arn:aws:iam::${account}:role/lake`,
      stsUrl: `http://127.0.0.1:${sts.port}`,
    }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

const keys = { id: 'witness', secret: 'witness-secret' }
const login = ['--access', keys.id, '--secret', keys.secret]
const region = 'us-east-1'
const account = '000000000000'

const build = () => goProgram('versitygw', 'github.com/versity/versitygw/cmd/versitygw', versitygwVersion)
const documentOf = (statement: unknown) => JSON.stringify({ Version: '2012-10-17', Statement: [statement] })

async function temporary(stack: AsyncDisposableStack, prefix: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function serve(
  stack: AsyncDisposableStack,
  bucket: string,
  program: string,
  flags: readonly string[],
): Promise<StorageServer & { readonly folder: string }> {
  const folder = await temporary(stack, 'covenant-versitygw-')
  mkdirSync(join(folder, bucket))
  const url = `http://127.0.0.1:${freePort()}`
  const at = ['--port', new URL(url).host, '--region', region]
  stack.use(
    await startServer('versitygw', [program, ...login, ...at, ...flags, 'posix', folder], `${url}/${bucket}`),
  )
  return { ...{ url, folder, ...keys }, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** One signed form of IAM's or STS's query API. */
async function ask(
  url: string,
  form: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly text: string }> {
  const body = new TextEncoder().encode(new URLSearchParams(form).toString())
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const credentials = { accessKeyId: keys.id, secretAccessKey: keys.secret, sessionToken: undefined }
  const signed = await signRequest(
    { ...credentials, region, service: 'iam' },
    { method: 'POST', url: `${url}/`, headers, body },
    Date.now(),
  )
  const answer = await fetch(url, { method: 'POST', headers: signed, body })
  return { status: answer.status, text: await answer.text() }
}

async function callIam(url: string, form: Readonly<Record<string, string>>): Promise<void> {
  const { status, text } = await ask(url, { ...form, Version: '2010-05-08' })
  if (status !== 200) throw new Error(`${form.Action} was answered ${status}: ${text}`)
}

interface IamFile {
  readonly roles: Readonly<Record<string, { RoleID: string; Arn: string; RoleLastUsed?: unknown }>>
  readonly sessions: Record<string, unknown>
}

/** AssumeRole: the session is in the service's file before its keys are given out. */
function beginSession(folder: string, form: URLSearchParams): Response {
  const path = join(folder, 'iam.json')
  const file = JSON.parse(readFileSync(path, 'utf8')) as IamFile
  const role = file.roles.lake
  if (role === undefined) throw new Error('versitygw keeps its roles elsewhere')
  // The service writes the file itself when a role is used, unless it has it as used.
  role.RoleLastUsed = { LastUsedDate: '2100-01-01T00:00:00Z', Region: region }
  const session = {
    accessKeyId: `ASIA${crypto.randomUUID().replaceAll('-', '').slice(0, 16).toUpperCase()}`,
    secretAccessKey: crypto.randomUUID(),
    sessionToken: crypto.randomUUID(),
    ...{ roleArn: role.Arn, roleName: 'lake', roleId: role.RoleID },
    roleSessionName: form.get('RoleSessionName'),
    createDate: new Date().toISOString(),
    expiration: new Date(Date.now() + Number(form.get('DurationSeconds')) * 1000).toISOString(),
    policy: form.get('Policy') ?? '',
  }
  file.sessions[session.accessKeyId] = session
  writeFileSync(`${path}.next`, JSON.stringify(file))
  renameSync(`${path}.next`, path)
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = session
  const given = Object.entries({
    AccessKeyId: accessKeyId,
    SecretAccessKey: secretAccessKey,
    SessionToken: sessionToken,
    Expiration: expiration,
  })
  const elements = given.map(([name, value]) => `<${name}>${value}</${name}>`).join('')
  return new Response(
    `<AssumeRoleResponse><AssumeRoleResult><Credentials>${elements}</Credentials></AssumeRoleResult></AssumeRoleResponse>`,
  )
}
