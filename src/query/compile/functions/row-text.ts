/** Defines the text of a row, as PostgreSQL prints a record. */

import { fn, type Template } from '../base/function-definition.ts'

/** What a field is put in quotes for; no field is quoted where it is NULL. */
const special = String.raw`'[\s\x0b"\\(),]'`

const quoted = (matches: string) =>
  `CASE WHEN v IS NULL THEN '' WHEN v = '' OR ${matches}(v, ${special}) THEN '"' || replace(replace(v, '\\', '\\\\'), '"', '""') || '"' ELSE v END`

const fieldsOf =
  (field: (text: string) => string): Template =>
  (args) =>
    `('(' || ${args.map(field).join(" || ',' || ")} || ')')`

/** Of the texts of its fields. */
export const rowText = fn(
  'row as text',
  'text ...',
  'text',
  fieldsOf((text) => `list_extract(list_transform([${text}], lambda v: ${quoted('regexp_matches')}), 1)`),
  fieldsOf((text) => `element_at(transform(ARRAY[${text}], v -> ${quoted('regexp_like')}), 1)`),
  { variadic: true },
)
