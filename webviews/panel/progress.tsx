// A bar that says what share is done, 0 to 1.
export function Progress({ share, label }: { share: number; label: string }) {
  const whole = Math.round(share * 100);
  return (
    <div class="progress" role="progressbar" aria-valuenow={whole} aria-valuemin={0} aria-valuemax={100} aria-label={label}>
      <span style={{ width: `${share * 100}%` }} />
    </div>
  );
}
