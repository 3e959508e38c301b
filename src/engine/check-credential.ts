/** What a query would stumble over in a catalog credential, refused where it can be mended. */

import { Fault, toFault } from '../base/fault.ts'
import { readEngineOf } from '../core/read-engine.ts'
import { parseTrinoSettings } from './trino/settings.ts'

/**
 * Checks what a credential's configuration says of reading.
 * @throws Fault `bad_request` for an engine that there is not, or settings of Trino that cannot be used; it
 *   names settings, never their values
 */
export function checkReadSettings(config: Readonly<Record<string, unknown>>): void {
  try {
    const settings = parseTrinoSettings({ config })
    if (readEngineOf(config) === 'trino' && settings === undefined)
      throw new Fault('bad_request', 'The read engine trino needs a trino.uri.')
  } catch (thrown) {
    const fault = toFault(thrown)
    throw fault.kind === 'misconfigured' ? new Fault('bad_request', fault.publicMessage) : fault
  }
}
