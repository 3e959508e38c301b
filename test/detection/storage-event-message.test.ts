/** Messages of the storage event queue in the forms of S3 and SNS, and in invalid ones. */

import { expect, test } from 'bun:test'
import { parseStorageEvent } from '../../src/detection/storage-event-message.ts'

const record = (key: string, eventName = 'ObjectCreated:Put', bucket = 'lake') => ({
  eventVersion: '2.1',
  eventSource: 'aws:s3',
  eventName,
  s3: { bucket: { name: bucket }, object: { key, size: 5 } },
})
const s3 = (...records: object[]) => JSON.stringify({ Records: records })
const sns = (message: string) => JSON.stringify({ Type: 'Notification', MessageId: 'm', Message: message })
const locations = (body: string) => {
  const event = parseStorageEvent(body)
  return event.kind === 'objects' ? event.metadataLocations : event.reason
}

test('metadata files are told from all else, plain and wrapped by SNS', () => {
  const body = s3(
    record('db/t/metadata/00001-a.metadata.json'),
    record('db/t/data/part.parquet'),
    record('db/t/metadata/snap-1.avro'),
    record('db/t/metadata/00002-b.metadata.json', 'ObjectRemoved:Delete'),
    record('db/t/metadata/00003-c.gz.metadata.json', 's3:ObjectCreated:CompleteMultipartUpload'),
  )
  const expected = [
    's3://lake/db/t/metadata/00001-a.metadata.json',
    's3://lake/db/t/metadata/00003-c.gz.metadata.json',
  ]
  expect(locations(body)).toEqual(expected)
  expect(locations(sns(body))).toEqual(expected)
})

test('keys are form-decoded', () => {
  expect(locations(s3(record('a+b/%C3%A9%2Bx/v1.metadata.json')))).toEqual([
    's3://lake/a b/é+x/v1.metadata.json',
  ])
})

test("S3's test event is about nothing", () => {
  const body = JSON.stringify({ Service: 'Amazon S3', Event: 's3:TestEvent', Bucket: 'lake' })
  expect(locations(body)).toEqual([])
  expect(locations(sns(body))).toEqual([])
})

test.each([
  ['no JSON', 'hello'],
  ['an array', '[]'],
  ['an object of another kind', '{"a":1}'],
  ['Records that are no array', '{"Records":{}}'],
  ['a record that is no object', '{"Records":[1]}'],
  [
    'a record without a key',
    JSON.stringify({ Records: [{ eventName: 'ObjectCreated:Put', s3: { bucket: { name: 'b' } } }] }),
  ],
  ['a key that does not decode', s3(record('%zz.metadata.json'))],
  ['an envelope around nothing', sns('hello')],
  ['a lone surrogate', '{"Records":[{"eventName":"\\ud800"}]}'],
  ['deep nesting', '['.repeat(100_000)],
  ['too many records', JSON.stringify({ Records: Array.from({ length: 10_001 }, () => ({})) })],
])('%s is unreadable, with a reason', (_, body) => {
  expect(parseStorageEvent(body)).toEqual({ kind: 'unreadable', reason: expect.any(String) })
})
