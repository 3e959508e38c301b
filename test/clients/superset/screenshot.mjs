/** Logs in, opens a dashboard and waits until its charts are drawn. Usage: PACKAGES BASE DASHBOARD FILE */

import { createRequire } from 'node:module'

const [packages, base, dashboard, file] = process.argv.slice(2)
const { chromium } = createRequire(`${packages}/package.json`)('playwright-core')
const quiet = ['quic', 'background-networking', 'component-update', 'sync', 'gpu'].map((name) => `--disable-${name}`)
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--no-first-run', ...quiet],
})
const page = await browser.newPage({ viewport: { width: 1200, height: 560 } })
await page.goto(`${base}/login/`)
await page.fill('#username', 'admin')
await page.fill('#password', 'admin')
await page.keyboard.press('Enter')
await page.waitForURL(/welcome/)
await page.goto(`${base}/superset/dashboard/${dashboard}/?standalone=1`, { waitUntil: 'domcontentloaded' })
await page.waitForSelector('.dashboard-component-chart-holder table tbody tr', { timeout: 120_000 })
await page.waitForSelector('canvas', { timeout: 120_000 })
await page.waitForFunction(() => document.querySelectorAll('.loading').length === 0)
// Charts fade in.
await page.waitForTimeout(2_000)
const cells = await page.locator('.dashboard-component-chart-holder table tbody td').allInnerTexts()
await page.screenshot({ path: file })
await browser.close()
console.log(JSON.stringify(cells))
