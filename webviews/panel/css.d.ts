// Lets TypeScript accept the style sheet that the bundler collects.
declare module '*.css';
