/** Signatures of the service before a second S3 server, versitygw, which checks them by code of its own. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Lake, type LakeClient, startLake } from './lake.ts'
import { startVersitygw } from './versitygw.ts'

let lake: Lake
let writer: LakeClient
let reader: LakeClient

const open = async (name: string, scope: 'read' | 'commit') =>
  lake.python(`signing-versitygw-${name}`, await lake.logIn(name, [scope]))

beforeAll(async () => {
  lake = await startLake('sign', { storage: await startVersitygw('lake') })
  writer = await open('writer', 'commit')
  reader = await open('reader', 'read')
  await lake.fill(writer)
}, 2_700_000)
afterAll(() => lake?.[Symbol.asyncDispose]())

const orders = { name: 'sales.orders_s3' }

test('signing-versitygw: pyiceberg writes and reads a table without keys', async () => {
  await writer.run(['append', { ...orders, at: 2, note: 'again' }])
  await reader.run(['load', orders])
  expect(await reader.run(['read', orders])).toEqual([
    [1, 'orders'],
    [2, 'again'],
  ])
})

test('signing-versitygw: keys with spaces, marks and letters of other scripts are signed as the server reads them', async () => {
  for (const name of ['a b', "it's (1)!*~", 'ä=ö', 'x+y&z', '日']) {
    const location = `${lake.place('orders')}/data/${name}.bin`
    await writer.run(['put', { ...orders, location }])
    expect(await writer.run(['get', { ...orders, location }])).toBe(1)
  }
})

test('signing-versitygw: without a signature, and outside of the table, there is nothing', async () => {
  await writer.run(['load', { name: 'sales.secrets_s3' }])
  const [other = ''] = (await writer.run(['files', { name: 'sales.secrets_s3' }])) as readonly string[]
  expect((await fetch(other.replace('s3://', `${lake.storage.url}/`))).status).toBe(403)
  expect(await reader.ask(['get', { ...orders, location: other }])).toHaveProperty('error')
})
