/** Parses a message of the storage event queue: S3's own notification, plain or wrapped by SNS. It does no I/O. */

import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../base/json.ts'

type StorageEvent =
  /** Locations of metadata files that were created; empty when the message is about other objects. */
  | { readonly kind: 'objects'; readonly metadataLocations: readonly string[] }
  | { readonly kind: 'unreadable'; readonly reason: string }

const recordsMax = 10_000
const metadataFile = /\.metadata\.json(\.gz)?$/

/** Parses one message body; never throws. */
export function parseStorageEvent(body: string): StorageEvent {
  const message = parse(body)
  if (message === undefined) return unreadable('it is not a JSON object')
  const inner = unwrap(message)
  if (inner === undefined) return unreadable('its SNS envelope holds no JSON object')
  // S3 sends this once when notifications are set up.
  if (inner.get('Event') === 's3:TestEvent') return { kind: 'objects', metadataLocations: [] }
  const records = inner.get('Records')
  if (!isArray(records)) return unreadable('it holds no Records')
  if (records.length > recordsMax) return unreadable(`it holds more than ${recordsMax} Records`)
  const metadataLocations: string[] = []
  for (const record of records) {
    const object = objectOf(record)
    if (object === undefined) return unreadable('a Record names no event, bucket and key')
    if (object.created && metadataFile.test(object.key))
      metadataLocations.push(`s3://${object.bucket}/${object.key}`)
  }
  return { kind: 'objects', metadataLocations }
}

function unreadable(reason: string): StorageEvent {
  return { kind: 'unreadable', reason }
}

function parse(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text.toWellFormed())
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** SNS puts the notification into `Message` as text, unless raw delivery is on. */
function unwrap(message: JsonObject): JsonObject | undefined {
  const text = message.get('Message')
  if (message.has('Records') || typeof text !== 'string') return message
  return parse(text)
}

function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value)
}

function objectOf(
  record: JsonValue,
): { readonly created: boolean; readonly bucket: string; readonly key: string } | undefined {
  if (!isJsonObject(record)) return undefined
  const event = record.get('eventName')
  const s3 = record.get('s3')
  if (typeof event !== 'string' || !isJsonObject(s3)) return undefined
  const bucket = s3.get('bucket')
  const object = s3.get('object')
  const name = isJsonObject(bucket) ? bucket.get('name') : undefined
  const key = isJsonObject(object) ? object.get('key') : undefined
  if (typeof name !== 'string' || typeof key !== 'string') return undefined
  try {
    // The key is form-encoded: a space is a plus.
    return {
      created: /^(s3:)?ObjectCreated:/.test(event),
      bucket: name,
      key: decodeURIComponent(key.replaceAll('+', ' ')),
    }
  } catch {
    return undefined
  }
}
