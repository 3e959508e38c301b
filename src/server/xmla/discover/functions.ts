/** MDSCHEMA_FUNCTIONS: the functions of MDX that are served, so that clients offer no other. */

import { mdxFunctions } from '../../../wire/mdx/words.ts'
import { columnsOf, type Row, type Rowset, restrictionsOf } from './rowset.ts'

/** Of MDX itself, not of a library. */
const builtIn = 1
/** What a function gives may be of any type. */
const variant = 12

const rows = (): readonly Row[] =>
  mdxFunctions.map((name) => ({
    FUNCTION_NAME: name,
    DESCRIPTION: '',
    PARAMETER_LIST: '',
    RETURN_TYPE: variant,
    ORIGIN: builtIn,
    INTERFACE_NAME: '',
    CAPTION: name,
    PARAMETERINFO: [],
  }))

export const functionsRowset: Rowset = {
  name: 'MDSCHEMA_FUNCTIONS',
  guid: 'a07ccd07-8148-11d0-87bb-00c04fc33942',
  columns: [
    ...columnsOf(
      'FUNCTION_NAME:s? DESCRIPTION:s? PARAMETER_LIST:s? RETURN_TYPE:i? ORIGIN:i? INTERFACE_NAME:s? LIBRARY_NAME:s? DLL_NAME:s? HELP_FILE:s? HELP_CONTEXT:i? OBJECT:s? CAPTION:s?',
    ),
    {
      ...{ name: 'PARAMETERINFO', type: 'string', optional: true },
      nested: columnsOf('NAME:s? DESCRIPTION:s? OPTIONAL:b? REPEATABLE:b? REPEATGROUP:i?'),
    },
  ],
  restrictions: restrictionsOf('LIBRARY_NAME:s INTERFACE_NAME:s FUNCTION_NAME:s ORIGIN:i CATALOG_NAME:s:own'),
  rows,
}
