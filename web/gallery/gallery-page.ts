// Shows itself.
// oxlint-disable-next-line import/no-unassigned-import
import '../widget/widget.ts'

const told = 'Copied'
const toldMs = 2_000

/** Puts the code beside a button into the clipboard; where that is not allowed, selects it. */
async function copy(button: HTMLButtonElement): Promise<void> {
  const code = button.parentElement?.querySelector('code')
  if (!code) return
  try {
    await navigator.clipboard.writeText(code.textContent ?? '')
  } catch {
    getSelection()?.selectAllChildren(code)
    return
  }
  const before = button.textContent
  if (before === told) return
  button.textContent = told
  setTimeout(() => (button.textContent = before), toldMs)
}

for (const button of document.querySelectorAll<HTMLButtonElement>('button.copy'))
  button.addEventListener('click', () => void copy(button))
