/** Leaves the request that wakes shared work: whose it is, its memory and its trace end with the request, the work later. */

import { AsyncLocalStorage } from 'node:async_hooks'

/** Runs work as if no request had asked for it. Made when the process loads, where no request is. */
export const outsideOfRequests = AsyncLocalStorage.snapshot()
