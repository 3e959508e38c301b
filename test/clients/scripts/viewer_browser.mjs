/**
 * From the first page to the API: enters a secret, tries an operation, then opens the documentation. Prints what it saw
 * as a line of JSON. Usage: PACKAGES BASE SECRET FOLDER
 */

import { createRequire } from 'node:module'

const [packages, base, secret, folder] = process.argv.slice(2)
const { chromium } = createRequire(`${packages}/package.json`)('playwright-core')
const quiet = ['quic', 'background-networking', 'component-update', 'sync', 'gpu'].map((name) => `--disable-${name}`)
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--no-first-run', ...quiet],
})
const page = await browser.newPage({ viewport: { width: 1200, height: 800 } })
const problems = []
const asked = []
page.on('console', (message) => {
  // Which resource that is, the response tells.
  const isKnown = message.text().startsWith('Failed to load resource')
  if (message.type() === 'error' && !isKnown) problems.push(message.text())
})
page.on('response', (response) => {
  // Browsers ask for it unbidden.
  const isIcon = response.url().endsWith('/favicon.ico')
  if (response.status() >= 400 && !isIcon) problems.push(`${response.status()} ${response.url()}`)
})
page.on('pageerror', (error) => problems.push(String(error)))
page.on('request', (request) => asked.push(request.url()))

await page.goto(base)
await page.screenshot({ path: `${folder}/home.png` })
await page.click('a[href="/api/docs"]')
await page.waitForSelector('.opblock-tag')
const sections = await page.locator('.opblock-tag').count()
await page.screenshot({ path: `${folder}/api.png` })

await page.click('button.authorize')
const session = page.locator('.auth-container', { hasText: 'X-Svc-Session' })
await session.locator('input').fill(secret)
await session.locator('button.authorize').click()
await page.click('.close-modal')
await page.locator('#operations-tag-sessions').click()
const operation = page.locator('.opblock:has([data-path="/api/v1/session"])').first()
await operation.locator('.opblock-summary-control').click()
await operation.locator('.try-out__btn').click()
await operation.locator('button.execute').click()
await operation.locator('.live-responses-table .response-col_status').first().waitFor()
const answered = await operation.locator('.live-responses-table .highlight-code').first().innerText()
await page.screenshot({ path: `${folder}/tried.png` })

await page.goto(base)
await page.click('a[href="/docs/"]')
await page.click('a[href="/docs/xmla.md"]')
const heading = await page.locator('h1').first().innerText()
const pictures = await page.evaluate(() => [...document.images].map((one) => one.complete && one.naturalWidth > 0))
await page.screenshot({ path: `${folder}/docs.png` })
await browser.close()
const elsewhere = asked.filter((url) => !url.startsWith(base) && !url.startsWith('data:'))
console.log(JSON.stringify({ sections, answered, heading, pictures, problems, elsewhere }))
