/**
 * Object-created events and S3 scans against moto's S3, SQS and SNS (Apache-2.0), fetched once into .cache/clients.
 * Files are put as a writer puts them, and the service learns of them only from the queue.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { IcebergWriter } from '../../demo/lake/iceberg-writer.ts'
import { HitQueue } from '../../src/detection/hit-queue.ts'
import { StorageEventListener } from '../../src/detection/storage-events.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { listFindings } from '../../src/store/detection/findings.ts'
import { listRuns } from '../../src/store/detection/run-list.ts'
import { type DetectionService, peopleFields, startDetectionService } from '../support/detection.ts'
import { eventually } from '../support/eventually.ts'
import { failingStore } from '../support/failing-store.ts'
import { freePort } from '../support/free-port.ts'

const pin = 'moto[server,s3,sqs,sns]==5.1.14'
const cache = new URL('../../.cache/clients/', import.meta.url).pathname
const region = 'eu-central-1'
/** The operator's own, for the queue; the tenant's are in its catalog credential. */
const ambient = {
  AWS_ACCESS_KEY_ID: 'ambient',
  AWS_SECRET_ACCESS_KEY: 'ambient',
  AWS_SESSION_TOKEN: 'ambient',
}

let d: DetectionService
let moto: Bun.Subprocess
let endpoint: string
let queueUrl: string
let listener: StorageEventListener
let client: SQSClient
let bucket: InstanceType<typeof Bun.S3Client>

beforeAll(async () => {
  const packages = join(cache, 'moto-5.1.14')
  if (!existsSync(packages)) {
    mkdirSync(cache, { recursive: true })
    const partial = mkdtempSync(`${packages}.`)
    await run(['python3', '-m', 'pip', 'install', '--quiet', '--target', partial, pin])
    renameSync(partial, packages)
  }
  const port = freePort()
  const env = { ...process.env, PYTHONPATH: packages, ...ambient, AWS_DEFAULT_REGION: region }
  moto = Bun.spawn(['python3', '-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], {
    env,
    stdout: 'ignore',
    stderr: 'ignore',
  })
  endpoint = `http://127.0.0.1:${port}`
  await eventually(() =>
    fetch(endpoint).then(
      () => true,
      () => false,
    ),
  )
  queueUrl = (await run(['python3', '-c', setup, endpoint], env)).trim()
  Object.assign(process.env, ambient)

  d = await startDetectionService()
  const { store, owner, app, metrics } = d.service
  await putCatalogCredential(store, owner.tenant, {
    nickname: 'lake',
    kind: 'alpha',
    endpoint: d.service.catalog.url,
    config: {
      endpoint: d.service.catalog.url,
      warehouse: 'dev',
      credential: 'gateway:s3cret',
      storage_roots: ['s3://lake/tables'],
      's3.endpoint': endpoint,
      's3.region': region,
      's3.access-key-id': 'tenant',
      's3.secret-access-key': 'tenant secret',
    },
  })
  bucket = new Bun.S3Client({
    endpoint,
    bucket: 'lake',
    accessKeyId: 'writer',
    secretAccessKey: 'writer',
    sessionToken: '',
  })
  client = new SQSClient({ region, endpoint })
  listener = new StorageEventListener(
    { store, metrics, queue: app.detection.queue, log: app.gateway.log },
    { queueUrl, region, tenant: owner.tenant, waitSeconds: 1 },
  )
}, 300_000)
afterAll(async () => {
  await listener?.stop()
  client?.destroy()
  await d?.[Symbol.asyncDispose]()
  moto?.kill()
})

/** Bucket, queue, the bucket's notifications to it, and a topic that the queue is subscribed to. */
const setup = `
import sys, json, boto3
at = dict(endpoint_url=sys.argv[1])
s3, sqs, sns = (boto3.client(name, **at) for name in ('s3', 'sqs', 'sns'))
where = dict(CreateBucketConfiguration=dict(LocationConstraint='${region}'))
s3.create_bucket(Bucket='lake', **where)
url = sqs.create_queue(QueueName='events')['QueueUrl']
arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=['QueueArn'])['Attributes']['QueueArn']
s3.put_bucket_notification_configuration(Bucket='lake', NotificationConfiguration=dict(
  QueueConfigurations=[dict(QueueArn=arn, Events=['s3:ObjectCreated:*'])]))
topic = sns.create_topic(Name='events')['TopicArn']
sns.subscribe(TopicArn=topic, Protocol='sqs', Endpoint=arn)
print(url)
`

async function run(command: readonly string[], env = process.env): Promise<string> {
  const child = Bun.spawn([...command], { env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${command[0]} failed: ${err.trim().split('\n').at(-1)}`)
  return out
}

const table = (name: string, below = 'tables') =>
  new IcebergWriter({
    fields: peopleFields,
    location: `s3://lake/${below}/${name}`,
    put: async (location, bytes) => void (await bucket.write(location.slice('s3://lake/'.length), bytes)),
  })
const rows = [1, 2, 3].map((id) => ({ id, email: `p${id}@example.com`, ssn: null, note: null }))
const runOf = (location: string) =>
  eventually(async () => {
    const page = await listRuns(d.service.store, d.service.owner.tenant, { limit: 1000 })
    return page.items.find(
      ({ metadataLocation, state }) => metadataLocation === location && /done|failed/.test(state),
    )
  })
const left = async () => {
  const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: [...names] }),
  )
  return names.map((name) => Number(Attributes[name]))
}
const emptied = () => eventually(async () => (await left()).every((count) => count === 0))

test('storage-events: a table written to S3 is heard of by its events, read with the tenant’s own credentials, and scanned', async () => {
  const { metadataLocation } = await table('a table/ü+1').append([{ rows }])
  const found = await runOf(metadataLocation)
  expect(found).toMatchObject({ state: 'done', source: 'storage-event', reason: '' })
  const findings = await listFindings(d.service.store, d.service.owner.tenant, { runId: found.id })
  expect(findings.items.map(({ column, confidence }) => [column, confidence])).toContainEqual(['email', 0.92])
  await emptied()
}, 60_000)

test('storage-events: an event that SNS passed on is read too', async () => {
  const metadataLocation = 's3://lake/tables/none/v1.metadata.json'
  const record = {
    eventName: 'ObjectCreated:Put',
    s3: { bucket: { name: 'lake' }, object: { key: 'tables/none/v1.metadata.json' } },
  }
  await run(
    [
      'python3',
      '-c',
      `import sys, boto3; sns = boto3.client('sns', endpoint_url=sys.argv[1]); sns.publish(TopicArn=sns.list_topics()['Topics'][0]['TopicArn'], Message=sys.argv[2])`,
      endpoint,
      JSON.stringify({ Records: [record] }),
    ],
    {
      ...process.env,
      PYTHONPATH: join(cache, 'moto-5.1.14'),
      AWS_DEFAULT_REGION: region,
    },
  )
  expect(await runOf(metadataLocation)).toMatchObject({ state: 'failed', reason: 'a file is not there' })
  await emptied()
}, 60_000)

test('storage-events: a message that nobody can read is set aside, sealed, and the queue goes on', async () => {
  await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: 'poison' }))
  await emptied()
  const kept = await d.service.store.tenantQuery<{ reason: string; sealed: Uint8Array }>(
    d.service.owner.tenant,
    'select reason, sealed from svc.detection_set_aside',
  )
  expect(kept).toEqual([expect.objectContaining({ reason: 'it is not a JSON object' })])
  expect(Buffer.from(kept[0]?.sealed ?? []).includes('poison')).toBe(false)
}, 60_000)

test('storage-events: files below no storage root are nobody’s', async () => {
  const { metadataLocation } = await table('other', 'elsewhere').append([{ rows }])
  await emptied()
  const { items } = await listRuns(d.service.store, d.service.owner.tenant, { limit: 1000 })
  expect(items.filter((one) => one.metadataLocation === metadataLocation)).toEqual([])
}, 60_000)

test('storage-events: a message stays in the queue until what it tells of is durable', async () => {
  await listener.stop()
  const { store, owner, app, metrics } = d.service
  const broken = failingStore(store, /insert into svc\.detection_run/)
  const location = 's3://lake/tables/late/v1.metadata.json'
  const record = {
    eventName: 'ObjectCreated:Put',
    s3: { bucket: { name: 'lake' }, object: { key: 'tables/late/v1.metadata.json' } },
  }
  await client.send(
    new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: JSON.stringify({ Records: [record] }) }),
  )
  const deaf = new StorageEventListener(
    { store: broken, metrics, queue: new HitQueue(broken, metrics, () => {}), log: app.gateway.log },
    { queueUrl, region, tenant: owner.tenant, waitSeconds: 1 },
  )
  await eventually(async () => (await left())[1] === 1)
  await deaf.stop()
  expect((await left()).reduce((a, b) => a + b)).toBe(1)
  expect(
    (await listRuns(store, owner.tenant, { limit: 1000 })).items.filter(
      (one) => one.metadataLocation === location,
    ),
  ).toEqual([])
}, 60_000)
