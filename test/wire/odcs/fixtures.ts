/** Contract documents for tests: one that uses every kind of text YAML has, and one that Covenant enforces. */

/** Comments, folding, quoting, numbers of many forms, anchors: what a rewrite would lose. */
export const orders = `# Orders of the shop.   Two   spaces stay.
apiVersion: v3.2.0
kind: DataContract
id: orders
version: "1.10"   # quoted, or it would be a number
status: active
name: 'It''s orders'
description:
  purpose: >-
    Long text that is folded over
    several lines,  with  odd   spacing.
  limitations: |
    - kept
    - as a block

schema:
- name: orders   # list not indented
  physicalName: orders
  customProperties:
    - property: covenant
      vendor: covenant
      value:
        table: { namespace: [sales], name: orders }
        rowFilters:
          - { id: europe, expression: "region = 'eu'", exemptRoles: [officer] }
    - property: acme
      vendor: acme
      value: &shared {depth: 9007199254740993, rate: 1.50, hex: 0x1F, exp: 1e3}
  properties:
    - name: id
      logicalType: integer
      primaryKey: true
      required: true
    - {name: email, logicalType: string, customProperties: [
        {property: covenant, vendor: covenant, value: {masks: [{id: hide, action: mask-alphanum}]}}]}
    - name: region
      logicalType: string
      description: "tab\\there"
    # a comment between items
    - name: amount
      logicalType: number
      customProperties:
      - property: copy
        value: *shared
`

/** The same contract in few words, as JSON. */
export const ordersJson = `{ "apiVersion": "v3.1.0", "kind": "DataContract", "id": "orders",
  "version": "1.0.0", "status": "active",   "schema": [ {"name": "orders", "properties": [ {"name": "id"} ]} ],
  "customProperties": [ {"property": "big", "value": 9007199254740993}, {"property": "half", "value": 1.50} ] }
`

export const encode = (text: string) => new TextEncoder().encode(text)
export const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
