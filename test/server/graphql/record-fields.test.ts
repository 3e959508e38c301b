import { expect, test } from 'bun:test'
import { graphql, printType } from 'graphql'
import {
  about,
  from,
  int64,
  maybe,
  number,
  type Static,
  text,
  time,
  uuid,
  whole,
} from '../../../src/core/record.ts'
import { newBuilder } from '../../../src/server/graphql/builder.ts'
import { recordFields } from '../../../src/server/graphql/record-fields.ts'

const shipment = {
  id: from(uuid, 'shipment_id'),
  carrier: maybe(about(text, 'absent until it is chosen')),
  position: int64,
  parcels: whole,
  weight: number,
  sentAt: maybe(time),
}
const names = ['id', 'carrier', 'position', 'parcels', 'weight', 'sentAt'] as const

function schemaOf(sent: Static<typeof shipment>) {
  const builder = newBuilder()
  const type = builder
    .objectRef<Static<typeof shipment>>('Shipment')
    .implement({ fields: (t) => recordFields(t, shipment, names) })
  builder.queryFields((t) => ({ sent: t.field({ type, resolve: () => sent }) }))
  builder.mutationFields((t) => ({ none: t.int({ resolve: () => 0 }) }))
  builder.subscriptionFields((t) => ({ none: t.int({ subscribe: async function* () {}, resolve: () => 0 }) }))
  return builder.toSchema()
}

const sent: Static<typeof shipment> = {
  id: '5c0f1f0e-3b0c-4a53-9a5f-6a1f2a7d9a10',
  carrier: undefined,
  position: 9_007_199_254_740_993n,
  parcels: 2,
  weight: 1.5,
  sentAt: new Date('2026-11-28T10:00:00Z'),
}

test('a declared record gives the types of its fields, what may be null, and descriptions', () => {
  const type = schemaOf(sent).getType('Shipment')
  expect(type && printType(type).split('\n')).toEqual([
    'type Shipment {',
    '  """absent until it is chosen"""',
    '  carrier: String',
    '  id: String!',
    '  parcels: Int!',
    '  position: String!',
    '  sentAt: DateTime',
    '  weight: Float!',
    '}',
  ])
})

test('a 64-bit integer is answered exactly, as its digits, and what is absent as null', async () => {
  const source = '{ sent { id carrier position parcels weight sentAt } }'
  const answer = await graphql({ schema: schemaOf(sent), source })
  expect(JSON.parse(JSON.stringify(answer.data?.sent))).toEqual({
    ...{ id: sent.id, carrier: null, position: '9007199254740993', parcels: 2, weight: 1.5 },
    sentAt: '2026-11-28T10:00:00.000Z',
  })
})
