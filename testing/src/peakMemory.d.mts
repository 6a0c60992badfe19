export function peakMb(): number;
