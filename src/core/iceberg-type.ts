/** Iceberg's types, as far as the read path and the masks distinguish them. */

/** An Iceberg type as in schema JSON: a primitive's name (`decimal(10,2)`, `fixed[16]`) or a nested type. */
export type IcebergType =
  | string
  | { readonly type: 'list'; readonly element: IcebergType }
  | { readonly type: 'struct' }
  | { readonly type: 'map' }
