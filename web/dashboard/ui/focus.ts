/** Moves the focus to the heading of a panel, else of the page, unless another element has it. */
export function focusHeading(panel: Element | null = null): void {
  const { activeElement: focused } = document
  if (focused !== null && focused !== document.body) return
  const own = panel?.isConnected === true ? panel.querySelector('.heading') : null
  const heading = own ?? document.querySelector('main h1')
  if (!(heading instanceof HTMLElement)) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
}

/**
 * Remembers the focused element. The returned function moves the focus to the next or previous row, else to the
 * heading, if the element was removed meanwhile.
 */
export function rememberFocus(): () => void {
  const { activeElement: focused } = document
  const row = focused?.closest('tr, li, .line')
  const neighbors = [row?.nextElementSibling, row?.previousElementSibling]
  const panel = focused?.closest('.panel') ?? null
  return () => {
    if (focused === null || focused.isConnected) return
    const target = neighbors
      .filter(neighbor => neighbor?.isConnected === true)
      .map(neighbor => neighbor?.querySelector<HTMLElement>('a, button, summary'))
      .find(Boolean)
    if (target && document.activeElement === document.body) target.focus()
    else focusHeading(panel)
  }
}
