import type { Locator, Page } from 'playwright-core'

import { waitFor } from './wait.ts'

/** Works on pages like a person, and counts what it takes. */
export interface Hands {
  /** Clicks, taps or, by keyboard, reaches and activates an element. */
  readonly press: (target: Locator) => Promise<void>
  readonly fill: (field: Locator, text: string) => Promise<void>
  /** Chooses an option of a `select` element by its label: two steps, to open the list and to choose. */
  readonly choose: (list: Locator, label: string) => Promise<void>
  /** Picks files: two steps, to open the dialog of the system and to choose in it. `button` covers the field. */
  readonly pickFiles: (button: Locator, paths: readonly string[]) => Promise<void>
  /** The clicks, taps or activations, and the fields filled. */
  readonly steps: () => number
}

/** How a person works: with a mouse, with fingers, or with the keyboard alone. */
export type Means = 'mouse' | 'touch' | 'keyboard'

/** More than any page has elements that can get the focus. */
const maxTabs = 200

export function openHands(page: Page, means: Means): Hands {
  let steps = 0
  const press = async (target: Locator) => {
    steps++
    if (means === 'mouse') await target.click()
    else if (means === 'touch') await target.tap()
    else await activate(page, target)
  }
  const fill = async (field: Locator, text: string) => {
    steps++
    if (means !== 'keyboard') return field.fill(text)
    await reach(page, field)
    if ((await field.getAttribute('type')) === 'time') await page.keyboard.type(timeKeys(text))
    else {
      await page.keyboard.press('Control+a')
      await page.keyboard.type(text)
    }
  }
  const choose = async (list: Locator, label: string) => {
    steps += 2
    if (means !== 'keyboard') await list.selectOption({ label })
    else {
      await reach(page, list)
      await page.keyboard.type(label)
    }
  }
  const pickFiles = async (button: Locator, paths: readonly string[]) => {
    const opened = page.waitForEvent('filechooser')
    await press(means === 'keyboard' ? button.locator('input') : button)
    await (await opened).setFiles(paths)
    steps++
  }
  return { press, fill, choose, pickFiles, steps: () => steps }
}

/** The keys of `06:00` in a field of 12 hours; one of 24 hours ignores the letter. */
const timeKeys = (text: string) => `${text.replace(':', '')}${Number(text.slice(0, 2)) < 12 ? 'A' : 'P'}`

/** Moves the focus with Tab, as far as it takes. Fails if the element cannot be reached or shows no focus. */
async function reach(page: Page, target: Locator): Promise<void> {
  await target.waitFor({ state: 'attached' })
  for (let tabs = 0; tabs < maxTabs; tabs++) {
    if (await target.evaluate(element => element.matches(':focus-visible'))) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`the keyboard does not reach ${String(target)}`)
}

async function activate(page: Page, target: Locator): Promise<void> {
  // Buttons that are disabled for a moment keep the focus, and ignore keys.
  await waitFor(() => target.isEnabled(), { deadlineMs: 15_000, what: `${String(target)} to be enabled` })
  const [tag, type] = await target.evaluate(element => [element.tagName, element.getAttribute('type')])
  if (type === 'radio') return chooseRadio(page, target)
  if ((await target.getAttribute('tabindex')) === '-1') await reachInList(page, target)
  else await reach(page, target)
  // The arrow keys select the items of some lists.
  if ((await target.getAttribute('aria-selected')) === 'true') return
  await page.keyboard.press(tag === 'A' ? 'Enter' : 'Space')
}

/** Reaches a list of which one item is a stop of Tab, and an item before or after it with the arrow keys. */
async function reachInList(page: Page, target: Locator): Promise<void> {
  const stop = target.locator('xpath=../*[@tabindex="0"]')
  await reach(page, stop)
  for (const key of ['Home', ...Array<string>(await stop.locator('xpath=../*').count()).fill('ArrowDown')]) {
    await page.keyboard.press(key)
    if (await target.evaluate(element => element.matches(':focus-visible'))) return
  }
  throw new Error(`the arrow keys do not reach ${String(target)}`)
}

/** Reaches the group of a radio button with Tab, and the button with the arrow keys. */
async function chooseRadio(page: Page, target: Locator): Promise<void> {
  const name = await target.getAttribute('name')
  await reach(page, page.locator(`input[name="${name}"]:focus, input[name="${name}"]:checked`).first())
  if (!(await target.isChecked())) {
    const count = await page.locator(`input[name="${name}"]`).count()
    for (let presses = 0; presses < count && !(await target.isChecked()); presses++)
      await page.keyboard.press('ArrowDown')
  } else await page.keyboard.press('Space')
}
